#include "tui/theme.h"

#include "core/base/check.h"
#include "core/term/cells.h"

#define S(NAME, name, letter) [STYLE_##NAME] = {name, letter},
static const struct {
	const char *name;
	char letter;
} STYLES[] = {THEME_STYLES(S)};
#undef S
static_assert(ARRAY_LEN(STYLES) == STYLE_COUNT, "every style has a name");

enum { RED = 1, GREEN, YELLOW, BLUE, MAGENTA, CYAN };

#define LOOK(colour, attributes)                                   \
	{                                                          \
		.fg = COLOUR_INDEXED(colour), .attrs = attributes, \
	}

const struct theme theme_default = {
    .looks =
        {
            [STYLE_TITLE] = {.attrs = CELL_BOLD},
            [STYLE_TITLE_ALERT] = LOOK(RED, CELL_BOLD),
            [STYLE_KEY] = {.attrs = CELL_BOLD},
            [STYLE_MUTED] = {.attrs = CELL_DIM},
            [STYLE_BORDER] = {.attrs = CELL_DIM},
            [STYLE_BORDER_TYPING] = LOOK(GREEN, CELL_BOLD),
            [STYLE_HEADING] = {.attrs = CELL_DIM},
            [STYLE_SELECTED] = {.attrs = CELL_REVERSE},
            [STYLE_SELECTED_IDLE] = {.attrs = CELL_BOLD},
            [STYLE_STATE_BUSY] = LOOK(CYAN, 0),
            [STYLE_STATE_READY] = LOOK(GREEN, 0),
            [STYLE_STATE_STOPPED] = {.attrs = CELL_DIM},
            [STYLE_STATE_FAILED] = LOOK(RED, CELL_BOLD),
            [STYLE_STATE_WAITING] = LOOK(YELLOW, CELL_BOLD),
            [STYLE_STATE_WORKING] = LOOK(CYAN, 0),
            [STYLE_STATE_IDLE] = {.attrs = CELL_DIM},
            [STYLE_STATE_FINISHED] = LOOK(GREEN, CELL_BOLD),
            [STYLE_STATE_SEEN] = LOOK(YELLOW, 0),
            [STYLE_MATCH] = LOOK(YELLOW, CELL_REVERSE),
            [STYLE_MATCH_CURRENT] =
                LOOK(YELLOW, CELL_REVERSE | CELL_BOLD | UNDERLINE_SINGLE << CELL_UNDERLINE_SHIFT),
            [STYLE_MARKED] = LOOK(MAGENTA, CELL_BOLD),
            [STYLE_DENIED] = LOOK(YELLOW, 0),
            [STYLE_NOTICE] = LOOK(CYAN, CELL_BOLD),
            [STYLE_MODE_COMMAND] = {.attrs = CELL_BOLD},
            [STYLE_MODE_TYPING] = LOOK(GREEN, CELL_BOLD | CELL_REVERSE),
            [STYLE_QUESTION] = {.attrs = CELL_BOLD | CELL_REVERSE},
        },
};

/* What a terminal of so many colours makes of one. */
static uint32_t shown(uint32_t colour, unsigned colours)
{
	if (colours == 0)
		return COLOUR_DEFAULT;
	bool as_it_is = COLOUR_IS_DEFAULT(colour) || colours > 256;
	return as_it_is ? colour : COLOUR_INDEXED(colour_nearest(colour, colours));
}

struct theme_look theme_look(const struct theme *t, enum theme_style style, unsigned colours)
{
	CHECK((unsigned)style < STYLE_COUNT);
	struct theme_look look = t->looks[style], plain = t->looks[STYLE_PLAIN];
	if (COLOUR_IS_DEFAULT(look.fg))
		look.fg = plain.fg;
	if (COLOUR_IS_DEFAULT(look.bg))
		look.bg = plain.bg;
	if (look.bg != plain.bg && shown(look.bg, colours) == shown(plain.bg, colours))
		look.attrs |= CELL_REVERSE;
	if (colours == 0)
		look.fg = look.bg = COLOUR_DEFAULT;
	return look;
}

const char *theme_style_name(enum theme_style style)
{
	return STYLES[(unsigned)style < STYLE_COUNT ? style : STYLE_PLAIN].name;
}

char theme_style_letter(enum theme_style style)
{
	return STYLES[(unsigned)style < STYLE_COUNT ? style : STYLE_PLAIN].letter;
}
