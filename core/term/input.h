/* What the operator types, out of the bytes of a raw terminal: an incremental parser of xterm's input. Pure.
 *
 * Bytes may come in any pieces. A lone ESC and the start of a sequence look the same, so after input_feed ask
 * input_wait_ms; when it is not 0 and no byte came for that long, call input_timeout. Replies of the terminal to
 * queries never come out as keys. */
#ifndef CCVM_TERM_INPUT_H
#define CCVM_TERM_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/term/keys.h"

#define INPUT_ESCAPE_MS 50 /* a lone ESC is the Escape key after this time */
#define INPUT_TORN_MS \
	2000 /* what is certainly no key, but whose rest got lost, is forgotten after this time */
#define INPUT_PASTE_MS  5000  /* a paste whose end got lost ends after this time without a byte */
#define INPUT_PASTE_MAX 65536 /* bytes of one paste event; a longer paste comes in parts */

enum input_kind {
	INPUT_KEY,   /* key and mods: enum term_key or a code point (Ctrl-A is 'a' with TERM_CTRL) */
	INPUT_PASTE, /* text: raw bytes of a bracketed paste, first and last mark its ends */
	INPUT_FOCUS, /* focused */
	INPUT_MOUSE, /* mouse */
	INPUT_REPLY  /* the terminal answered a question (tty_questions): reply */
};

enum input_reply {
	REPLY_SYNC,  /* DECRQM of mode 2026; yes: it has synchronised output */
	REPLY_KEYS,  /* it has kitty's keyboard protocol */
	REPLY_DEVICE /* primary device attributes */
};

struct input_event {
	enum input_kind kind;
	uint32_t key;
	unsigned mods;     /* enum term_mod */
	struct bytes text; /* borrowed during the callback */
	bool first, last;
	bool focused;
	struct term_mouse mouse;
	enum input_reply reply;
	bool yes;
};

struct input {
	void (*on_event)(void *arg, const struct input_event *ev);
	void *arg;
	uint8_t state;
	uint8_t opener;  /* the byte after ESC that began a string */
	uint8_t seq[64]; /* an unfinished sequence or character */
	size_t seq_len;
	bool alt;            /* ESC came before it */
	uint8_t paste_match; /* bytes of the end mark of a paste seen so far */
	bool paste_started;  /* a part was delivered */
	struct buf paste;
};

void input_init(struct input *in, void (*on_event)(void *arg, const struct input_event *ev), void *arg);
void input_finish(struct input *in);
void input_feed(struct input *in, const void *bytes, size_t len);
/* Milliseconds after the last byte at which input_timeout is due; 0: nothing is pending. */
unsigned input_wait_ms(const struct input *in);
void input_timeout(struct input *in);

#endif
