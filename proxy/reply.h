/* The answers of the proxy. Pure. Only our own words and names that passed the normaliser appear in them, never a byte
 * of the request as it came: an agent's transcript and the operator's terminal show them. */
#ifndef CCVM_PROXY_REPLY_H
#define CCVM_PROXY_REPLY_H

#include <stddef.h>
#include <stdint.h>

#include "core/audit/record.h"

#define REPLY_SIZE 2048

#define REPLY_ESTABLISHED "HTTP/1.1 200 Connection established\r\n\r\n"

struct reply {
	int status; /* 0: the usual one for `why` */
	enum audit_why why;
	const char
	    *reason; /* of AUDIT_BAD_REQUEST, AUDIT_IP_LITERAL, AUDIT_BAD_NAME: static words; else NULL */
	const char *host; /* normalised, or "" */
	uint16_t port;
	const char *vm;   /* "" when it has no name */
	const char *rule; /* canonical text, or "" */
};

/* The usual status, and whether policy refused (AUDIT_DENY) or it could not be done (AUDIT_FAIL). */
int reply_status(enum audit_why why);
enum audit_event reply_event(enum audit_why why);

/* A whole refusal with "Connection: close"; the connection is to be closed after it. Returns its length. */
size_t reply_format(const struct reply *r, char out[REPLY_SIZE]);
/* 503: what was decided could not be put on record, so nothing is done. */
size_t reply_format_no_record(char out[REPLY_SIZE]);

#endif
