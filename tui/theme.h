/* What things look like: semantic style names, and a theme that gives each a colour and attributes.
 *
 * Views say what a cell *is* (a selected row, a failed state), never which colour it has. Colour is never the only
 * signal: each of these places also carries a word or a glyph. */
#ifndef CCVM_TUI_THEME_H
#define CCVM_TUI_THEME_H

#include <stddef.h>
#include <stdint.h>

/* S(NAME, "name.in.files", letter): the letter stands for the style in golden pictures. */
#define THEME_STYLES(S)                                                            \
	S(PLAIN, "plain", '.')                                                     \
	S(GUEST, "guest", 'g') /* a cell of a terminal: carries its own colours */ \
	S(TITLE, "title", 't')                                                     \
	S(TITLE_ALERT, "title.alert", 'A')                                         \
	S(KEY, "key", 'k')                                                         \
	S(MUTED, "muted", 'm')                                                     \
	S(BORDER, "border", 'b')                                                   \
	S(BORDER_TYPING, "border.typing", 'B')                                     \
	S(HEADING, "heading", 'h')                                                 \
	S(SELECTED, "selected", 's')                                               \
	S(SELECTED_IDLE, "selected.unfocused", 'u')                                \
	S(STATE_BUSY, "state.busy", 'y')                                           \
	S(STATE_READY, "state.ready", 'r')                                         \
	S(STATE_STOPPED, "state.stopped", 'o')                                     \
	S(STATE_FAILED, "state.failed", 'f')                                       \
	S(STATE_WAITING, "state.waiting", 'w') /* wants the operator */            \
	S(STATE_WORKING, "state.working", 'W')                                     \
	S(STATE_IDLE, "state.idle", 'i')                                           \
	S(STATE_FINISHED, "state.finished", 'F')                                   \
	S(STATE_SEEN, "state.seen", 'e') /* the operator has looked at it since */ \
	S(MARKED, "marked", 'M')                                                   \
	S(MATCH, "match", 'x') /* of a search */                                   \
	S(MATCH_CURRENT, "match.current", 'X')                                     \
	S(DENIED, "feed.denied", 'd')                                              \
	S(NOTICE, "notice", 'n')                                                   \
	S(MODE_COMMAND, "mode.command", 'c')                                       \
	S(MODE_TYPING, "mode.typing", 'T')                                         \
	S(QUESTION, "question", 'q')

#define S(NAME, name, letter) STYLE_##NAME,
enum theme_style { THEME_STYLES(S) STYLE_COUNT };
#undef S

/* Colours and attributes as in core/term/cells.h; zero is the terminal's own default. */
struct theme_look {
	uint32_t fg, bg;
	uint16_t attrs; /* enum cell_attr */
};

struct theme {
	struct theme_look looks[STYLE_COUNT];
};

/* Built in: the terminal's own foreground, background and 16 colours, so that it fits a light and a dark one. */
extern const struct theme theme_default;

#define THEME_ALL_COLOURS (1u << 24)

/* The look of a style, with the colours of "plain" where it has none, on a terminal of so many colours: 0 (NO_COLOR, or one that has
 * none: only the attributes are left), 8, 16, 256 or THEME_ALL_COLOURS. A background that so few colours do not show is
 * shown by reversing, so that what is selected can be seen everywhere. */
struct theme_look theme_look(const struct theme *t, enum theme_style style, unsigned colours);

const char *theme_style_name(enum theme_style style); /* out of range: "plain" */
char theme_style_letter(enum theme_style style);

#endif
