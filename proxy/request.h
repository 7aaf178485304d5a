/* The head of a CONNECT request: bytes in, verdict out. Pure, and strict: what this grammar does not say is refused.
 *
 *     request = [CRLF] "CONNECT" SP name ":" port SP "HTTP/1." ("0"/"1") CRLF *( field CRLF ) CRLF
 *     name    = label 1*( "." label ) [ "." ]      label = 1*63 (ALPHA / DIGIT / "-" / "_"), 253 in all
 *     port    = 1..65535, no leading zero
 *     field   = token ":" *( HTAB / 0x20-0x7e / 0x80-0xff )    never folded
 *
 * Header fields are checked and then ignored: the request line alone decides. What follows the empty line belongs to
 * the tunnel, whatever Content-Length or Transfer-Encoding may say. */
#ifndef CCVM_PROXY_REQUEST_H
#define CCVM_PROXY_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "core/audit/record.h"
#include "core/egress/host.h"

#define REQUEST_HEAD_MAX  (16 * 1024)
#define REQUEST_LINES_MAX 100 /* header fields */

enum request_state { REQUEST_MORE, REQUEST_BAD, REQUEST_OK };

struct request {
	enum request_state state;
	/* REQUEST_OK */
	char host[HOST_SIZE]; /* normalised */
	uint16_t port;
	size_t head_len; /* where the tunnel's bytes begin; <= len */
	/* REQUEST_BAD */
	int status;         /* 400, 403, 405, 431 or 505 */
	enum audit_why why; /* AUDIT_BAD_REQUEST, AUDIT_IP_LITERAL or AUDIT_BAD_NAME */
	const char *reason; /* our own words, static */
	/* The target as it came, without a password in front of an "@"; the method when that is not CONNECT; the first line
	 * when it has no such parts. Borrowed from the input; for the log only. */
	const char *raw;
	size_t raw_len;
};

/* The verdict on what has arrived so far. It does not depend on how the bytes arrive: once it is not REQUEST_MORE,
 * more bytes do not change it. It can only change when a line end (LF) or byte REQUEST_HEAD_MAX arrives. */
void request_parse(const char *bytes, size_t len, struct request *out);

#endif
