/* Copying to the operator's clipboard, by whichever way works where ccvm runs, and an honest word about it.
 *
 * What is copied was chosen by the operator; the bytes pass as they are. A way that fails is followed by the next one when the method is
 * CLIPBOARD_AUTO, and is an error otherwise. The words say what is known: a terminal does not acknowledge OSC 52, so the text is
 * "sent to the terminal", never "copied". */
#ifndef CCVM_TUI_CLIPBOARD_H
#define CCVM_TUI_CLIPBOARD_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/buf.h"
#include "core/base/err.h"

struct loop;
struct clipboard;

/* M(NAME, "name in ccvm.ini"), in the order in which `auto` tries them. */
#define CLIPBOARD_METHODS(M)  \
	M(AUTO, "auto")       \
	M(COMMAND, "command") \
	M(TMUX, "tmux")       \
	M(WL_COPY, "wl-copy") \
	M(XCLIP, "xclip")     \
	M(XSEL, "xsel")       \
	M(OSC52, "osc52")     \
	M(FILE, "file")
#define M(NAME, name) CLIPBOARD_##NAME,
enum clipboard_method { CLIPBOARD_METHODS(M) CLIPBOARD_METHOD_COUNT };
#undef M

/* What most terminals still take in one piece, in bytes of base64. */
#define CLIPBOARD_OSC52_DEFAULT 74994
#define CLIPBOARD_TEXT_MAX      (16 * 1024 * 1024)

/* All borrowed during clipboard_create. */
struct clipboard_spec {
	enum clipboard_method method;
	const char *command; /* the operator's copy_command, for sh -c; NULL or "": none */
	size_t osc52_most;   /* bytes of base64; 0: CLIPBOARD_OSC52_DEFAULT */
	const char *folder;  /* where the file goes: the runtime folder; NULL: nowhere */
};

struct clipboard_ops {
	/* OSC 52 for the terminal, between two frames. */
	void (*send)(void *arg, const void *bytes, size_t len);
	/* Once for each clipboard_copy, from the loop: one line for people. `done` is false when nothing was copied anywhere. */
	void (*told)(void *arg, bool done, const char *text);
};

struct clipboard *clipboard_create(struct loop *loop, const struct clipboard_spec *spec,
                                   const struct clipboard_ops *ops, void *arg) MUST_USE;
/* Helpers that serve the selection go on. No callback afterwards. Accepts NULL. */
void clipboard_destroy(struct clipboard *c);

/* Copies the bytes. One at a time: a second one takes the place of a first that is not through yet, which is not told then. With
 * `method` other than the spec's for this once: what a refusal offers ("file"). */
void clipboard_copy(struct clipboard *c, struct bytes text, enum clipboard_method method);
/* With the method of the spec. */
enum clipboard_method clipboard_method(const struct clipboard *c);

bool clipboard_parse_method(const char *name, enum clipboard_method *out);
const char *clipboard_method_name(enum clipboard_method method);

#endif
