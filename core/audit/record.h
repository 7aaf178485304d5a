/* One record of the egress audit log, and its line of JSON.
 *
 *     {"v":1,"seq":42,"t":"2026-11-30T21:30:00.123Z","vm":"a1","ev":"deny","conn":7,
 *      "host":"x.example","port":443,"why":"no_rule","rule":null}
 *
 * ASCII only, keys always in this order, null for what does not apply; then what only some events have:
 * "ip" (open, close, fail), "up" "down" "ms" "end" (close), "raw" "raw_len" (a request that had no usable target),
 * "rules" (policy), "bytes" (recovered), "detail" (a sentence). The same struct is what the reader gives back. */
#ifndef CCVM_AUDIT_RECORD_H
#define CCVM_AUDIT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AUDIT_VERSION    1
#define AUDIT_LINE_MAX   2048 /* with its newline: below PIPE_BUF, one write */
#define AUDIT_RAW_MAX    300  /* bytes kept of a target that could not be parsed */
#define AUDIT_DETAIL_MAX 200

enum audit_event {
	AUDIT_START,     /* the proxy began; `rules` */
	AUDIT_STOP,      /* it ended as asked */
	AUDIT_OPEN,      /* a tunnel is about to be dialled */
	AUDIT_CLOSE,     /* a tunnel that was open is over */
	AUDIT_DENY,      /* refused by policy, or no request at all */
	AUDIT_FAIL,      /* allowed, but it could not be done */
	AUDIT_POLICY,    /* the policy was read again; `rules`, or `detail` says why it was kept */
	AUDIT_RECOVERED, /* a torn last line of `bytes` bytes was cut off */
	AUDIT_EVENT_COUNT
};

enum audit_why {
	AUDIT_WHY_NONE,
	AUDIT_NO_RULE,         /* no allow rule covers it */
	AUDIT_DENY_RULE,       /* a deny rule does */
	AUDIT_IP_LITERAL,      /* an address, or a name that some resolver reads as one */
	AUDIT_BAD_NAME,        /* a name that is never allowed (no dot, this machine) */
	AUDIT_BAD_REQUEST,     /* not a CONNECT request */
	AUDIT_TIMEOUT,         /* no whole request in time */
	AUDIT_ADDRESS_REFUSED, /* the name leads to a private or own address only */
	AUDIT_RESOLVE_FAILED,
	AUDIT_RESOLVE_TIMEOUT,
	AUDIT_CONNECT_FAILED,
	AUDIT_CONNECT_TIMEOUT,
	AUDIT_LIMIT,      /* too many tunnels */
	AUDIT_POLICY_BAD, /* the new policy text has an error */
	AUDIT_STOPPED,    /* the proxy was stopped before the tunnel stood */
	AUDIT_WHY_COUNT
};

/* Who ended a tunnel. */
enum audit_end {
	AUDIT_END_NONE,
	AUDIT_END_CLIENT_EOF, /* both sides ended in good order, the guest first */
	AUDIT_END_SERVER_EOF, /* the same, the server first */
	AUDIT_END_CLIENT_ERROR,
	AUDIT_END_SERVER_ERROR,
	AUDIT_END_DRAIN, /* one side had ended and the other stood still for too long */
	AUDIT_END_STOP,  /* the proxy was stopped */
	AUDIT_END_COUNT
};

struct audit_record {
	uint64_t seq; /* from 1, one more each record, over restarts; set by the writer */
	int64_t t_ms; /* wall clock; set by the writer */
	char vm[33];  /* set by the writer */
	enum audit_event event;
	uint64_t conn;  /* number of the connection since the proxy started, from 1; 0: none */
	char host[254]; /* normalised; "" none */
	uint16_t port;  /* 0: none */
	enum audit_why why;
	char rule[352];    /* canonical text of the rule that decided; "" none */
	char ip[64];       /* "192.0.2.1:443", "[2001:db8::1]:443" */
	uint64_t up, down; /* bytes from and to the guest */
	uint64_t ms;       /* life of the tunnel */
	enum audit_end end;
	uint64_t rules;
	uint64_t bytes;
	size_t raw_len; /* of the whole target; `raw` holds the first AUDIT_RAW_MAX bytes of it */
	char raw[AUDIT_RAW_MAX + 4]; /* room for the "..." of a cut one that is read back */
	char detail[AUDIT_DETAIL_MAX + 4];
};

/* Words of the log. Out of range gives "?". */
const char *audit_event_name(enum audit_event ev);
const char *audit_why_name(enum audit_why why); /* AUDIT_WHY_NONE: "none" (null in the log) */
const char *audit_end_name(enum audit_end end);
/* The same for people, as the end of a sentence: "no rule allows it". */
const char *audit_why_text(enum audit_why why);

/* The line with its newline; never longer than AUDIT_LINE_MAX, whatever the fields hold. Returns its length. */
size_t audit_format(const struct audit_record *r, char out[AUDIT_LINE_MAX + 1]);

/* Copies text into a field, cut to fit. */
void audit_set_detail(struct audit_record *r, const char *text);
void audit_set_raw(struct audit_record *r, const void *bytes, size_t len);

#endif
