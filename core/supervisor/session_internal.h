/* What the files of a session share. A session consists of its connection (session.c), its programs (session_exec.c),
 * its watched terminals (session_term.c) and its open questions (session_ask.c). */
#ifndef CCVM_SUPERVISOR_SESSION_INTERNAL_H
#define CCVM_SUPERVISOR_SESSION_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/list.h"
#include "core/supervisor/board.h"
#include "core/supervisor/session.h"
#include "core/wire/frame.h"
#include "core/wire/wire.h"

#define SESSION_MOST_THINGS 64 /* programs, watched terminals, questions: of each kind */

struct session {
	const struct session_host *host;
	struct stream *stream;
	struct timer *timer;   /* the HELLO's limit; later: closes a broken session from the loop */
	struct hangup *hangup; /* while it is not read */
	bool open;             /* HELLO was there */
	bool closed, broken, gone_told;
	struct frame_reader frames;
	struct buf out; /* one call's answers */
	struct err refused;
	struct board_watch watch;
	bool watching, status_due;
	uint32_t watch_id;
	struct list execs, terms, asks;
	size_t exec_count, term_count, ask_count;
	void (*on_gone)(void *arg, struct session *s);
	void *arg;
};

/* Where to put frames, then session_flush. A connection that takes no more is closed from the loop, never from inside. */
struct buf *session_out(struct session *s);
void session_flush(struct session *s);
bool session_is_full(const struct session *s);
void session_answer_err(struct session *s, uint32_t id, const struct err *e);
void session_answer_ok(struct session *s, uint32_t id, const char *text);
/* Reads the client or not, after what its programs can take. */
void session_update_reading(struct session *s);

/* The VM is ready and not paused, or *e says in what state it is instead. */
bool session_check_ready(const struct session *s, struct err *e) MUST_USE;
/* Strings with NUL, back to back, or nothing. */
bool session_check_strings(struct bytes blob, const char *what, struct err *e) MUST_USE;

/* Handlers. False with `e`: the client broke the protocol. */
bool session_on_exec(struct session *s, const struct frame *f, struct err *e);
bool session_on_stdin(struct session *s, const struct frame *f, struct err *e);
bool session_on_stdin_eof(struct session *s, const struct frame *f, struct err *e);
bool session_on_signal(struct session *s, const struct frame *f, struct err *e);
bool session_on_term_open(struct session *s, const struct frame *f, struct err *e);
bool session_on_term_key(struct session *s, const struct frame *f, struct err *e);
bool session_on_term_text(struct session *s, const struct frame *f, struct err *e);
bool session_on_term_paste(struct session *s, const struct frame *f, struct err *e);
bool session_on_term_resize(struct session *s, const struct frame *f, struct err *e);
bool session_on_term_mouse(struct session *s, const struct frame *f, struct err *e);
bool session_on_term_focus(struct session *s, const struct frame *f, struct err *e);
bool session_on_term_history(struct session *s, const struct frame *f, struct err *e);
bool session_on_term_signal(struct session *s, const struct frame *f, struct err *e);
bool session_on_term_leave(struct session *s, const struct frame *f, struct err *e);
bool session_on_ping(struct session *s, const struct frame *f, struct err *e);
bool session_on_allow(struct session *s, const struct frame *f, struct err *e);
bool session_on_deny(struct session *s, const struct frame *f, struct err *e);
bool session_on_stop(struct session *s, const struct frame *f, struct err *e);
bool session_on_kill(struct session *s, const struct frame *f, struct err *e);
bool session_on_pause(struct session *s, const struct frame *f, struct err *e);
bool session_on_seen(struct session *s, const struct frame *f, struct err *e);

/* One STATUS_REPLY. False: it does not fit. */
bool session_put_status(struct buf *out, uint32_t id, const struct vm_status *v);

/* There is room for sending again. */
void session_execs_drain(struct session *s);
void session_terms_drain(struct session *s);
/* Some program of this client takes no more stdin. */
bool session_execs_are_full(const struct session *s);
/* The state of the VM has changed. */
void session_asks_look(struct session *s);

void session_execs_close(struct session *s);
void session_terms_close(struct session *s);
void session_asks_close(struct session *s);

#endif
