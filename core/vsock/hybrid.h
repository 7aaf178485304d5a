/* The text side of a hybrid vsock socket: what a host program says before bytes flow. Pure.
 *
 * Host to guest: connect to the socket, send "CONNECT <port>\n", read "OK <host port>\n", then it is a stream.
 * Refused: the socket is closed and nothing is said. Guest to host: the guest's connection to port P arrives at the
 * socket "<path>_P". */
#ifndef CCVM_VSOCK_HYBRID_H
#define CCVM_VSOCK_HYBRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

#define HYBRID_LINE_MAX 32 /* bytes of a CONNECT line, with its newline */
#define HYBRID_OK_SIZE  16 /* bytes that hold "OK 4294967295\n" and a NUL */

/* `line` is one line with its newline. The word in any case, one blank, decimal digits. False: not such a line. */
bool hybrid_parse_connect(const char *line, size_t len, uint32_t *port) MUST_USE;
size_t hybrid_format_ok(char out[HYBRID_OK_SIZE], uint32_t host_port);

/* The socket path with the longest port must fit into a socket address. */
bool hybrid_check_path(const char *path, struct err *e) MUST_USE;

#endif
