/* Reading, searching and copying what a terminal has said, in the place of its pane.
 *
 * It freezes a copy of the screen, so that the guest's output goes on behind it without moving anything under the eye, and
 * asks for the history in pieces, the newest first, while the operator already reads. No I/O: actions and pieces in,
 * picture, text and wishes out.
 *
 * Its actions are a table of their own, from which the keymap takes names, keys and help. */
#ifndef CCVM_TUI_COPY_MODE_H
#define CCVM_TUI_COPY_MODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/check.h"
#include "core/base/err.h"
#include "core/base/str.h"
#include "core/term/select.h"
#include "tui/canvas.h"

struct screen;
struct copy_mode;

/* A(NAME, "name", "keys", "help"): keys as key_parse reads them, blanks between. The four search ones only say that a text is
 * wanted or repeated: whoever has the line editor calls copy_mode_search. */
#define COPY_ACTIONS(A)                                                                 \
	A(LEAVE, "copy-leave", "q Escape C-c", "leave copy mode")                       \
	A(UP, "copy-up", "k Up", "one line up")                                         \
	A(DOWN, "copy-down", "j Down", "one line down")                                 \
	A(LEFT, "copy-left", "h Left Backspace", "one column left")                     \
	A(RIGHT, "copy-right", "l Right", "one column right")                           \
	A(PAGE_UP, "copy-page-up", "PageUp C-b", "one page up")                         \
	A(PAGE_DOWN, "copy-page-down", "PageDown C-f", "one page down")                 \
	A(HALF_UP, "copy-half-up", "C-u", "half a page up")                             \
	A(HALF_DOWN, "copy-half-down", "C-d", "half a page down")                       \
	A(SCROLL_UP, "copy-scroll-up", "C-y", "scroll one line up")                     \
	A(SCROLL_DOWN, "copy-scroll-down", "C-e", "scroll one line down")               \
	A(FIRST, "copy-first", "g Home", "the oldest line")                             \
	A(LAST, "copy-last", "G End", "the newest line")                                \
	A(WINDOW_TOP, "copy-window-top", "H", "top of what is shown")                   \
	A(WINDOW_MIDDLE, "copy-window-middle", "M", "middle of what is shown")          \
	A(WINDOW_BOTTOM, "copy-window-bottom", "L", "bottom of what is shown")          \
	A(WORD_NEXT, "copy-word-next", "w", "next word")                                \
	A(WORD_BACK, "copy-word-back", "b", "previous word")                            \
	A(WORD_END, "copy-word-end", "e", "end of the word")                            \
	A(LINE_START, "copy-line-start", "0", "start of the line")                      \
	A(LINE_TEXT, "copy-line-text", "^", "first word of the line")                   \
	A(LINE_END, "copy-line-end", "$", "end of the line")                            \
	A(PARAGRAPH_BACK, "copy-paragraph-back", "{", "previous empty line")            \
	A(PARAGRAPH_NEXT, "copy-paragraph-next", "}", "next empty line")                \
	A(PROMPT_PREVIOUS, "copy-prompt-previous", "[", "previous prompt of the shell") \
	A(PROMPT_NEXT, "copy-prompt-next", "]", "next prompt of the shell")             \
	A(SELECT, "copy-select", "v Space", "select characters, or stop selecting")     \
	A(SELECT_LINES, "copy-select-lines", "V", "select lines")                       \
	A(SELECT_BLOCK, "copy-select-block", "C-v", "select a rectangle")               \
	A(SELECT_WORDS, "copy-select-words", "W", "select words")                       \
	A(SWAP, "copy-swap", "o", "to the other end of the selection")                  \
	A(COPY, "copy-copy", "y Enter", "copy the selection and leave")                 \
	A(SEARCH, "copy-search", "/", "search towards the newest line")                 \
	A(SEARCH_BACK, "copy-search-back", "?", "search towards the oldest line")       \
	A(AGAIN, "copy-again", "n", "next match")                                       \
	A(AGAIN_BACK, "copy-again-back", "N", "next match the other way")

#define A(NAME, name, keys, help) COPY_##NAME,
enum copy_action { COPY_ACTIONS(A) COPY_ACTION_COUNT };
#undef A

/* What the one who called has to do. */
enum copy_result {
	COPY_RESULT_STAY,  /* nothing but to draw */
	COPY_RESULT_LEAVE, /* copy mode is over */
	COPY_RESULT_COPY,  /* over: copy_mode_text is for the clipboard */
	COPY_RESULT_ASK    /* a text to search for: copy_mode_search with it */
};

/* Starts at the screen as it is now, the cursor where the guest's is. rows, cols: of the pane. */
struct copy_mode *copy_mode_create(const struct screen *s, int rows, int cols) MUST_USE;
void copy_mode_destroy(struct copy_mode *c); /* accepts NULL */
void copy_mode_resize(struct copy_mode *c, int rows, int cols);

enum copy_result copy_mode_act(struct copy_mode *c, enum copy_action action);
/* Scrolls by lines, negative: towards older ones, also those that are still on their way. True: it came down to the newest line
 * with nothing selected, so that the wheel may leave. */
bool copy_mode_scroll(struct copy_mode *c, int lines);

/* From the place where it began; so that a text may be searched for while it is being typed. "" goes back there. */
void copy_mode_search(struct copy_mode *c, const char *text, bool back);
/* The text has been typed: what AGAIN repeats. Cancelled: back to where it began. */
void copy_mode_search_done(struct copy_mode *c, bool cancelled);

/* A selection by the mouse; the place is inside the pane. `beyond`: -1 the pointer is above it, 1 below. */
void copy_mode_begin(struct copy_mode *c, int row, int col, enum select_kind kind);
void copy_mode_drag(struct copy_mode *c, int row, int col, int beyond);

bool copy_mode_has_selection(const struct copy_mode *c);
/* The selected text, appended; at most the maximum of `out`. */
void copy_mode_text(const struct copy_mode *c, struct str *out);

/* True: older lines are wanted: ask for `most` lines before `before`, and answer with copy_mode_lines. True once for each piece. */
bool copy_mode_wants(struct copy_mode *c, uint64_t *before, uint32_t *most);
/* The answer, as client_lines_fn has it. After an error no more is asked for. */
void copy_mode_lines(struct copy_mode *c, uint64_t first, uint32_t count, struct bytes lines,
                     const struct err *e);

void copy_mode_draw(struct copy_mode *c, struct canvas *canvas, struct rect r);
/* For the title: "-120/10000", and while searching "3/17". */
#define COPY_POSITION_SIZE 64
void copy_mode_position(const struct copy_mode *c, char out[COPY_POSITION_SIZE]);

/* "copy-up", its default keys, its help; names and keys are those of the table. */
const char *copy_action_name(enum copy_action a);
const char *copy_action_keys(enum copy_action a);
const char *copy_action_help(enum copy_action a);

#endif
