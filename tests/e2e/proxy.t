#!/usr/bin/env python3
"""The real ccvm-proxy on a Unix socket, with servers on loopback behind `resolve` lines."""
import hashlib
import json
import os
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PROGRAM = os.environ.get("CCVM_PROXY", "build/ccvm-proxy")
LIMIT = 30  # seconds; only a failure takes so long
TMP = tempfile.mkdtemp(prefix="ccvm-t.")
count = failed = 0


def ok(good, name, detail=""):
    global count, failed
    count += 1
    print(("ok" if good else "not ok"), count, "-", name, flush=True)
    if not good:
        failed += 1
        print("\n".join("# " + line for line in str(detail).splitlines()), flush=True)
    return good


def is_(got, want, name):
    return ok(got == want, name, f"got:  {got!r}\nwant: {want!r}")


def wait_for(holds):
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.01)
    return False


class Server:
    """A TCP server on loopback; `handle` runs in a thread for each connection."""

    def __init__(self, handle):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        self.accepted = 0
        self.handle = handle
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                c, _ = self.listener.accept()
            except OSError:
                return
            self.accepted += 1
            threading.Thread(target=self.guarded, args=(c,), daemon=True).start()

    def guarded(self, c):
        with c:
            try:
                self.handle(c)
            except OSError:
                pass


def read_all(s):
    out = bytearray()
    while True:
        chunk = s.recv(65536)
        if not chunk:
            return bytes(out)
        out += chunk


def echo(c):
    while True:
        chunk = c.recv(65536)
        if not chunk:
            return
        c.sendall(chunk)


class Proxy:
    def __init__(self, name, policy, before=None, vm="alpha", wait=True):
        self.dir = os.path.join(TMP, name)
        os.makedirs(self.dir, exist_ok=True)
        self.socket = os.path.join(self.dir, "s")
        self.policy_file = os.path.join(self.dir, "policy")
        self.audit = os.path.join(self.dir, "audit.jsonl")
        self.write_policy(policy)
        self.notify, theirs = os.pipe()
        self.log = open(os.path.join(self.dir, "stderr"), "wb+")
        self.process = subprocess.Popen(
            [PROGRAM, "--listen", self.socket, "--policy", self.policy_file, "--audit", self.audit,
             "--vm", vm, "--notify-fd", str(theirs)],
            pass_fds=[theirs], stderr=self.log, preexec_fn=before)
        os.close(theirs)
        self.lines = b""
        if wait and self.line() != "ready":
            self.process.wait()
            raise RuntimeError("not ready: " + open(self.log.name).read())

    def write_policy(self, text):
        with open(self.policy_file + ".new", "w") as f:
            f.write(text)
        os.rename(self.policy_file + ".new", self.policy_file)

    def line(self):
        end = time.monotonic() + LIMIT
        while b"\n" not in self.lines:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.notify], [], [], left)[0]:
                return None
            chunk = os.read(self.notify, 4096)
            if not chunk:
                return None
            self.lines += chunk
        line, self.lines = self.lines.split(b"\n", 1)
        return line.decode()

    def reload(self, text):
        self.write_policy(text)
        self.process.send_signal(signal.SIGHUP)
        return self.line()

    def connect(self):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(LIMIT)
        s.connect(self.socket)
        return s

    def tunnel(self, target, early=b""):
        """A socket after the proxy's head, the head, and what came glued to it."""
        s = self.connect()
        s.sendall(b"CONNECT " + target.encode() + b" HTTP/1.1\r\nHost: " + target.encode() + b"\r\n\r\n" + early)
        head = b""
        while b"\r\n\r\n" not in head:
            chunk = s.recv(65536)
            if not chunk:
                break
            head += chunk
        head, _, rest = head.partition(b"\r\n\r\n")
        return s, head.decode(), rest

    def raw(self, data):
        with self.connect() as s:
            s.sendall(data)
            return read_all(s)

    def records(self):
        with open(self.audit, "rb") as f:
            return [json.loads(line) for line in f.read().splitlines()]

    def events(self):
        return [r["ev"] for r in self.records()]

    def fds(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(LIMIT)
        os.close(self.notify)
        return code


def exit_of(*args):
    p = subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=LIMIT)
    return p.returncode, p.stdout, p.stderr


def command_line():
    code, out, err = exit_of("--help")
    ok(code == 0 and "usage: ccvm-proxy" in out and err == "", "--help", (code, out, err))
    code, out, err = exit_of("--version")
    ok(code == 0 and out.startswith("ccvm-proxy "), "--version", (code, out, err))
    code, out, err = exit_of("--listen", "x")
    ok(code == 2 and err.count("\n") == 1, "missing options: one line, exit 2", (code, err))
    path = os.path.join(TMP, "bad-policy")
    base = ("--listen", os.path.join(TMP, "s"), "--audit", os.path.join(TMP, "a"), "--policy")
    with open(path, "w") as f:
        f.write("# fine\nallow ok.test\npermit x.test\n")
    code, out, err = exit_of(*base, path)
    ok(code == 2 and f"{path}:3: " in err, "a bad policy line is named with file and line, exit 2", (code, err))
    code, out, err = exit_of(*base, path + ".missing")
    ok(code == 2 and path in err, "a missing policy is exit 2, not an empty one", (code, err))
    with open(path, "w") as f:
        f.write("allow ok.test\n")
    code, out, err = exit_of("--listen", os.path.join(TMP, "no", "s"), "--audit", os.path.join(TMP, "a"), "--policy", path)
    ok(code == 1 and err, "a socket that cannot be made is exit 1", (code, err))


def refusals_and_the_same_allowed():
    server = Server(echo)
    lines = f"resolve a.test 127.0.0.1:{server.port}\nresolve a.b.test 127.0.0.1:{server.port}\n"
    p = Proxy("refusals", lines)
    s, head, body = p.tunnel("a.test:443")
    is_(head.split("\r\n")[0], "HTTP/1.1 403 Forbidden by ccvm: no rule for a.test:443",
        "an empty policy refuses, and the status line says why")
    body += read_all(s)  # ends, because the proxy ends the connection
    ok(f"Content-Length: {len(body)}\r\n" in head and body.endswith(b"ccvm allow alpha a.test\n"),
       "the body is whole and says what to do", (head, body))
    is_(p.reload(lines + "allow a.test\nallow *.b.test:8080\n"), "policy ok 4", "a reload is reported")
    s, head, _ = p.tunnel("A.TEST.:443")
    is_(head, "HTTP/1.1 200 Connection established", "the same name is let through when allowed")
    s.sendall(b"ping")
    is_(s.recv(4), b"ping", "and reaches the server")
    for target, status in (("a.test:80", 403), ("b.test:8080", 403), ("a.b.test:443", 403), ("a.b.test:8080", 200),
                           ("nota.test:443", 403), ("a.test.evil.test:443", 403), ("127.0.0.1:443", 403),
                           ("127.1:443", 403), ("[::1]:443", 403), ("localhost:443", 403),
                           ("evil.test/a.test:443", 400), ("a.test@evil.test:443", 400), ("evil.test?a.test:443", 400),
                           ("evil.test#a.test:443", 400), ("a.test%00.evil.test:443", 400), ("a.test:0", 400),
                           ("a.test:65979", 400), ("a.test:0443", 400), ("[a.test]:443", 400)):
        t, head, _ = p.tunnel(target)
        is_(head.split(" ")[1], str(status), f"{target} is {status}")
        t.close()
    answer = p.raw(b"CONNECT \x1b[31mevil\r\nX: y HTTP/1.1\r\n\r\n")
    ok(b"\x1b" not in answer and answer.startswith(b"HTTP/1.1 400 "), "no byte of a bad request comes back", answer)
    ok(b"\r\nConnection: close\r\n" in answer, "a refusal closes the connection", answer)
    answer = p.raw(b"A" * 20000)
    ok(answer.startswith(b"HTTP/1.1 431 "), "a head without end is 431", answer[:100])
    is_(p.reload(lines + "deny a.test\nallow a.test\n"), "policy ok 4", "a deny is taken over")
    s.sendall(b"pong")
    is_(s.recv(4), b"pong", "an open tunnel survives the change")
    t, head, _ = p.tunnel("a.test:443")
    is_(head.split("\r\n")[0], "HTTP/1.1 403 Forbidden by ccvm: a rule denies a.test:443", "a new one follows it")
    t.close()
    line = p.reload("allow *\n")
    ok(line.startswith("policy error ") and "policy:1: " in line, "a bad policy is reported", line)
    t, head, _ = p.tunnel("a.test:443")
    is_(head.split(" ")[1], "403", "and the old one stays")
    t.close()
    s.close()
    wait_for(lambda: p.events().count("close") == 2)
    is_(p.stop(), 0, "SIGTERM: exit 0")
    ok(not os.path.exists(p.socket), "the socket is gone")
    records = p.records()
    is_([r["seq"] for r in records], list(range(1, len(records) + 1)), "the records are numbered without a gap")
    ok(all(list(r)[:10] == ["v", "seq", "t", "vm", "ev", "conn", "host", "port", "why", "rule"] for r in records),
       "the keys stand in their order")
    is_((records[0]["ev"], records[-1]["ev"]), ("start", "stop"), "start and stop are on record")
    by_conn = {}
    for r in records:
        by_conn.setdefault(r["conn"], []).append(r["ev"])
    ok(all(e in (["deny"], ["fail"], ["open", "close"], ["open", "fail"]) for c, e in by_conn.items() if c),
       "each connection is denied or failed once, or opened and closed", by_conn)
    with open(p.audit, "rb") as f:
        ok(all(c == 10 or 32 <= c < 127 for c in f.read()), "the log is printable ASCII")


def bulk():
    size = 16 * 1024 * 1024
    blob = bytes(os.urandom(1024 * 1024)) * (size // (1024 * 1024))
    digest = hashlib.sha256(blob).hexdigest()
    seen = []

    def swap(c):
        """Sends while it receives: both ways at once."""
        sender = threading.Thread(target=lambda: (c.sendall(blob), c.shutdown(socket.SHUT_WR)))
        sender.start()
        seen.append(hashlib.sha256(read_all(c)).hexdigest())
        sender.join()

    server = Server(swap)
    p = Proxy("bulk", f"allow a.test\nresolve a.test 127.0.0.1:{server.port}\n")
    s, _, rest = p.tunnel("a.test:443")
    sender = threading.Thread(target=lambda: (s.sendall(blob), s.shutdown(socket.SHUT_WR)))
    sender.start()
    got = hashlib.sha256(rest + read_all(s)).hexdigest()
    sender.join()
    is_(got, digest, "16 MiB down arrive whole")
    wait_for(lambda: seen)
    is_(seen, [digest], "16 MiB up arrive whole")
    wait_for(lambda: "close" in p.events())
    r = p.records()[-1]
    is_((r["up"], r["down"]), (size, size), "the close record counts them")
    p.stop()


def short_answers():
    blob = os.urandom(7728)

    def answer(c):
        c.sendall(blob)

    def answer_and_reset(c):
        c.sendall(blob)
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))

    for name, handle in (("closes", answer), ("leaves the request unread", answer_and_reset)):
        server = Server(handle)
        p = Proxy("short", f"allow a.test\nresolve a.test 127.0.0.1:{server.port}\n")
        whole = 0
        for _ in range(200):
            s, head, rest = p.tunnel("a.test:443", b"a request that may stay unread" * 50)
            with s:
                whole += rest + read_all(s) == blob
        is_(whole, 200, f"a server that answers and {name} at once loses nothing, 200 times")
        wait_for(lambda: p.events().count("close") == 200)
        is_(p.events().count("close"), 200, "each of them is closed on record")
        p.stop()
        os.unlink(p.audit)


def half_close():
    def reply_after_eof(c):
        request = read_all(c)
        c.sendall(b"got %d bytes" % len(request))

    server = Server(reply_after_eof)
    p = Proxy("half", f"allow a.test\nresolve a.test 127.0.0.1:{server.port}\n")
    s, _, rest = p.tunnel("a.test:443", b"early ")
    s.sendall(b"late")
    s.shutdown(socket.SHUT_WR)
    is_(rest + read_all(s), b"got 10 bytes", "a half-close reaches the server and the reply comes back; early data too")
    s.close()
    wait_for(lambda: "close" in p.events())
    is_(p.records()[-1]["end"], "client_eof", "who ended it is on record")

    def close_first(c):
        c.sendall(b"bye")
        c.shutdown(socket.SHUT_WR)
        heard.append(read_all(c))

    heard = []
    server.handle = close_first
    s, _, rest = p.tunnel("a.test:443")
    is_(rest + read_all(s), b"bye", "the server's end of file comes through")
    s.sendall(b"and more from the guest")
    s.close()
    wait_for(lambda: heard)
    is_(heard, [b"and more from the guest"], "and the guest may still send")
    p.stop()


def back_to_baseline():
    server = Server(echo)
    p = Proxy("baseline", f"allow a.test\nresolve a.test 127.0.0.1:{server.port}\n")
    for _ in range(3):  # warm up what is made once
        p.tunnel("a.test:443")[0].close()
    wait_for(lambda: p.events().count("close") == 3)
    before = p.fds()
    for i in range(200):
        kind = i % 4
        if kind == 0:  # rude: gone with the answer unread
            s = p.connect()
            s.sendall(b"CONNECT a.test:443 HTTP/1.1\r\n\r\n" + b"x" * 1000)
            s.close()
        elif kind == 1:
            s, _, _ = p.tunnel("a.test:443", b"hello")
            s.close()
        elif kind == 2:
            p.tunnel("no.test:443")[0].close()
        else:  # gone in the middle of its request
            s = p.connect()
            s.sendall(b"CONNECT a.te")
            s.close()
    good = wait_for(lambda: p.fds() == before and p.events().count("open") == p.events().count("close"))
    ok(good, "200 connections later no descriptor is left", (before, p.fds(), p.events()[-3:]))
    many = [p.tunnel("a.test:443")[0] for _ in range(256)]
    s, head, _ = p.tunnel("a.test:443")
    ok(head.startswith("HTTP/1.1 429 ") and "Retry-After: 1" in head, "the 257th tunnel is told to wait", head)
    s.close()
    full = before + 2 * 256
    many.pop().close()
    ok(wait_for(lambda: p.fds() < full), "a tunnel that ends gives its place back", (full, p.fds()))
    s, head, _ = p.tunnel("a.test:443")
    ok(head.startswith("HTTP/1.1 200 "), "and may come once another has gone", head)
    many.append(s)
    for s in many:
        s.close()
    ok(wait_for(lambda: p.fds() == before), "all of them go without leaving a descriptor", (before, p.fds()))
    p.stop()


class SlowRequest(threading.Thread):
    """A request that trickles in and never ends, beside all other tests."""

    def __init__(self):
        super().__init__(daemon=True)
        self.proxy = Proxy("slow", "")
        self.answer = b""
        self.start()

    def run(self):
        with self.proxy.connect() as s:
            s.settimeout(0.2)
            while True:
                try:
                    s.sendall(b"C")
                    self.answer = s.recv(4096)
                    return
                except socket.timeout:
                    continue
                except OSError:
                    return

    def check(self):
        self.join(LIMIT)
        ok(self.answer.startswith(b"HTTP/1.1 408 "), "a request that only trickles is 408 in the end", self.answer)
        self.proxy.stop()


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def out_of_descriptors():
    server = Server(echo)
    p = Proxy("emfile", f"allow a.test\nresolve a.test 127.0.0.1:{server.port}\n",
              before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (28, 28)))
    held = [p.connect() for _ in range(60)]  # more than it can accept
    ok(wait_for(lambda: p.fds() >= 28), "the proxy has run out of descriptors", p.fds())
    ticks = cpu_ticks(p.process.pid)
    end = time.monotonic() + 1
    while time.monotonic() < end:
        time.sleep(0.05)
    used = cpu_ticks(p.process.pid) - ticks
    ok(used < 30, "it does not spin meanwhile", f"{used} ticks in a second")
    for s in held:
        s.close()
    s, head, _ = p.tunnel("a.test:443")
    ok(head.startswith("HTTP/1.1 200 "), "and serves again when they are free", head)
    is_(p.stop(), 0, "and stops in good order")


def no_record_no_tunnel():
    server = Server(echo)
    policy = f"allow a.test\nresolve a.test 127.0.0.1:{server.port}\n"
    p = Proxy("full", policy)
    held, head, _ = p.tunnel("a.test:443")
    held.sendall(b"x")
    held.recv(1)  # the server has counted it
    pid, size = p.process.pid, os.path.getsize(p.audit)
    hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size + 10, hard))
    accepted = server.accepted
    s, head, _ = p.tunnel("a.test:443")
    ok(head.startswith("HTTP/1.1 503 "), "an allowed request is 503 when it cannot be put on record", head)
    s.close()
    is_(server.accepted, accepted, "and nothing was dialled")
    s, head, _ = p.tunnel("no.test:443")
    ok(head.startswith("HTTP/1.1 503 "), "a refused one too", head)
    s.close()
    held.sendall(b"still")
    is_(held.recv(5), b"still", "an open tunnel goes on")
    held.close()
    with open(p.audit, "rb") as f:
        ok(f.read().endswith(b"}\n"), "the log ends with a whole line")
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))
    s, head, _ = p.tunnel("a.test:443")
    ok(head.startswith("HTTP/1.1 200 "), "it goes on when there is room again", head)
    s.close()
    wait_for(lambda: p.events().count("close") == 2)
    events = p.events()
    is_(events.count("open"), events.count("close"), "the end that could not be written is on record now")
    is_([r["seq"] for r in p.records()], list(range(1, len(events) + 1)), "without a gap in the numbers")
    p.process.kill()
    p.process.wait()
    with open(p.audit, "ab") as f:
        f.write(b'{"v":1,"seq":99,"t":"to')
    q = Proxy("full", policy)
    q.stop()
    is_(q.events()[len(events):], ["recovered", "start", "stop"], "after kill -9 and a torn line the log goes on")
    is_([r["seq"] for r in q.records()], list(range(1, len(q.records()) + 1)), "with the next number")
    try:
        a = Proxy("full", policy)
        code = subprocess.run([PROGRAM, "--listen", a.socket + "2", "--policy", a.policy_file, "--audit", a.audit],
                              stderr=subprocess.DEVNULL, timeout=LIMIT).returncode
        is_(code, 1, "two proxies never write one log")
    finally:
        a.stop()


def idle():
    server = Server(echo)
    p = Proxy("idle", f"allow a.test\nresolve a.test 127.0.0.1:{server.port}\n")

    def resident():
        with open(f"/proc/{p.process.pid}/smaps_rollup") as f:
            return sum(int(line.split()[1]) for line in f if line.startswith("Private_"))

    def wakeups():
        with open(f"/proc/{p.process.pid}/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("voluntary_ctxt_switches"))

    first = p.tunnel("a.test:443")[0]
    before = resident()
    held = [p.tunnel("a.test:443")[0] for _ in range(250)]
    for s in held:  # each has carried something
        s.sendall(b"x" * 1000)
        got = 0
        while got < 1000:
            got += len(s.recv(1000))
    per = (resident() - before) / len(held)
    ok(per < 4, "an idle tunnel holds less than 4 KiB", f"{per:.1f} KiB each")
    print(f"# {per:.2f} KiB private memory for each idle tunnel, {before} KiB in all before")

    def stays_asleep():
        start = wakeups()
        time.sleep(1)
        return wakeups() == start

    ok(wait_for(stays_asleep), "and an idle proxy does not wake up once its log is synced")
    for s in held + [first]:
        s.close()
    p.stop()


try:
    slow = SlowRequest()
    for part in (command_line, refusals_and_the_same_allowed, bulk, short_answers, half_close, back_to_baseline,
                 out_of_descriptors, no_record_no_tunnel, idle,
                 slow.check):
        try:
            part()
        except Exception as e:  # a part that breaks off is a failure, not the end
            ok(False, f"{part.__name__} runs to its end", repr(e))
finally:
    shutil.rmtree(TMP, ignore_errors=True)
print(f"1..{count}")
sys.exit(1 if failed else 0)
