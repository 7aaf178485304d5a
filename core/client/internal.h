/* What the files of core/client share: a conversation is whoever waits for messages with one request id.
 *
 * A conversation is embedded in the object that has it and is linked into the client while it lasts. Exactly one of
 * three things ends it: its own on_message (by conversation_end), on_broken (the connection or the time limit; it is
 * ended already then), or release (client_close; also ended already: no callback to the user any more). */
#ifndef CCVM_CLIENT_INTERNAL_H
#define CCVM_CLIENT_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/list.h"
#include "core/client/client.h"
#include "core/wire/frame.h"

struct conversation {
	struct list link;
	struct client *client;
	uint32_t id;
	uint64_t deadline_ms; /* monotonic; 0: none */
	const struct conversation_ops *ops;
};

struct conversation_ops {
	const char *what; /* "ping": for the text of a time-out */
	/* False with the error: the message makes no sense here, the connection is closed. */
	bool (*on_message)(struct conversation *v, const struct frame *f, struct err *e);
	void (*on_broken)(struct conversation *v, const struct err *e);
	void (*on_drain)(
	    struct conversation *v); /* room for sending again; may end no other conversation; may be NULL */
	void (*release)(struct conversation *v);
};

/* Links it with a fresh id; timeout_ms 0: none. On a broken connection on_broken follows from the loop. */
void conversation_begin(struct client *c, struct conversation *v, const struct conversation_ops *ops,
                        uint64_t timeout_ms);
void conversation_end(struct conversation *v);
bool conversation_is_active(const struct conversation *v);

/* Where the next message is encoded (wire_put_* into it), and its sending. client_flush is false when the connection is
 * broken or its queue is over the limit, which breaks it. */
struct buf *client_outgoing(struct client *c);
bool client_flush(struct client *c);
bool client_is_full(const struct client *c);
void client_pause(struct client *c);
void client_resume(struct client *c);

/* What to say of a supervisor that lives and says nothing. */
void client_set_hangs(const char *vm, struct err *e);

/* For tests: every time limit that runs is over now. */
void client_expire(struct client *c);
struct client_send;
void client_send_expire(struct client_send *s);

/* The error that a WIRE_ERROR message carries; false and a protocol error in `e` when it is malformed. */
bool client_read_error(const struct frame *f, struct err *carried, struct err *e);
bool client_unexpected(const struct frame *f, struct err *e); /* false */
/* Texts from a supervisor are ASCII without controls; anything else becomes '?'. */
void client_clean_text(char *text);
/* The same for texts that may be UTF-8: what no terminal may show becomes '?'. */
void client_clean_utf8(char *text);

#endif
