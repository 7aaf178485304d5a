#!/usr/bin/env python3
"""Local servers that guests reach through the proxy: upstream.py CERT KEY PORTS_FILE.

tls:   HTTPS. GET /            a greeting;  GET /bytes/N  N pseudo-random bytes (the same each time);
              POST /hash       the SHA-256 of the body.
burst: sends 7,728 bytes and closes at once.
count: reads until the client's end of file, then answers "<bytes> <sha256>\n" and closes.
"""
import hashlib
import http.server
import os
import socketserver
import ssl
import sys
import threading


def pseudo_random(count):
    out, block = [], b"ccvm"
    for _ in range((count + 31) // 32):
        block = hashlib.sha256(block).digest()
        out.append(block)
    return b"".join(out)[:count]


CACHE = {}


class Https(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path.startswith("/bytes/"):
            count = int(self.path[7:])
            if count not in CACHE:
                CACHE[count] = pseudo_random(count)
            self.answer(CACHE[count])
        else:
            self.answer(b"hello from the other side\n")

    def do_POST(self):
        left, digest = int(self.headers["Content-Length"]), hashlib.sha256()
        if self.headers.get("Expect"):
            self.send_response_only(100)
            self.end_headers()
        while left:
            piece = self.rfile.read(min(left, 65536))
            if not piece:
                return
            digest.update(piece)
            left -= len(piece)
        self.answer(digest.hexdigest().encode() + b"\n")


class Burst(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.sendall(b"x" * 7728)


class Count(socketserver.BaseRequestHandler):
    def handle(self):
        total, digest = 0, hashlib.sha256()
        while piece := self.request.recv(65536):
            total += len(piece)
            digest.update(piece)
        self.request.sendall(f"{total} {digest.hexdigest()}\n".encode())


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 256


class TlsServer(Server):
    def __init__(self, cert, key):
        super().__init__(("127.0.0.1", 0), Https)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(cert, key)

    def finish_request(self, request, client_address):
        try:
            with self.context.wrap_socket(request, server_side=True) as wrapped:
                self.RequestHandlerClass(wrapped, client_address, self)
        except (ssl.SSLError, OSError):
            pass


def main():
    cert, key, ports_file = sys.argv[1:]
    servers = {
        "tls": TlsServer(cert, key),
        "burst": Server(("127.0.0.1", 0), Burst),
        "count": Server(("127.0.0.1", 0), Count),
    }
    for server in servers.values():
        threading.Thread(target=server.serve_forever, daemon=True).start()
    with open(ports_file + ".tmp", "w", encoding="ascii") as out:
        for name, server in servers.items():
            out.write(f"{name}_port={server.server_address[1]}\n")
    os.rename(ports_file + ".tmp", ports_file)
    threading.Event().wait()


main()
