#include "core/term/cells.h"

#include <string.h>

#include "core/base/check.h"

/* The first 16 colours as xterm has them; programs that care for exact ones use RGB. */
static const uint32_t BASE16[16] = {
    0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
    0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
};
static const uint8_t CUBE[6] = {0, 95, 135, 175, 215, 255};

bool cell_equal(const struct cell *a, const struct cell *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

bool cell_same_style(const struct cell *a, const struct cell *b)
{
	return a->fg == b->fg && a->bg == b->bg && a->ul == b->ul && a->attrs == b->attrs;
}

bool cell_is_blank(const struct cell *c)
{
	const unsigned shows = CELL_REVERSE | CELL_STRIKE | CELL_OVERLINE | CELL_UNDERLINE_MASK;
	return (c->code == 0 || c->code == ' ') && c->width == CELL_NARROW && COLOUR_IS_DEFAULT(c->bg) &&
	       (c->attrs & shows) == 0;
}

uint32_t colour_palette_rgb(uint8_t index)
{
	if (index < 16)
		return BASE16[index];
	if (index >= 232) {
		uint32_t grey = 8 + 10 * (uint32_t)(index - 232);
		return grey << 16 | grey << 8 | grey;
	}
	unsigned cube = index - 16u;
	return (uint32_t)CUBE[cube / 36] << 16 | (uint32_t)CUBE[cube / 6 % 6] << 8 | CUBE[cube % 6];
}

static unsigned channel_distance(uint32_t a, uint32_t b, unsigned shift)
{
	int d = (int)(a >> shift & 0xff) - (int)(b >> shift & 0xff);
	return (unsigned)(d * d);
}

/* Green counts most and blue least to the eye. */
static unsigned rgb_distance(uint32_t a, uint32_t b)
{
	return 3 * channel_distance(a, b, 16) + 6 * channel_distance(a, b, 8) + channel_distance(a, b, 0);
}

static uint8_t nearest_of(uint32_t rgb, unsigned first, unsigned end)
{
	unsigned best = first;
	for (unsigned i = first + 1; i < end; i++)
		if (rgb_distance(rgb, colour_palette_rgb((uint8_t)i)) <
		    rgb_distance(rgb, colour_palette_rgb((uint8_t)best)))
			best = i;
	return (uint8_t)best;
}

static uint8_t nearest_of_three(uint32_t rgb, unsigned a, unsigned b, unsigned c)
{
	unsigned at_a = rgb_distance(rgb, colour_palette_rgb((uint8_t)a));
	unsigned at_b = rgb_distance(rgb, colour_palette_rgb((uint8_t)b));
	unsigned at_c = rgb_distance(rgb, colour_palette_rgb((uint8_t)c));
	return (uint8_t)(at_a <= at_b && at_a <= at_c ? a : at_b <= at_c ? b : c);
}

static unsigned cube_level(uint32_t channel)
{
	unsigned level = 0;
	while (level < 5 && 2 * channel > (uint32_t)CUBE[level] + CUBE[level + 1])
		level++;
	return level;
}

/* The best of the cube is the best in each channel, the best grey is the one next to the weighted mean: no search, because a
 * frame may have thousands of colours. */
static uint8_t nearest_of_cube_and_greys(uint32_t rgb)
{
	uint32_t r = rgb >> 16 & 0xff, g = rgb >> 8 & 0xff, b = rgb & 0xff;
	unsigned cube = 16 + 36 * cube_level(r) + 6 * cube_level(g) + cube_level(b);
	unsigned mean = (3 * r + 6 * g + b) / 10;
	unsigned grey = 232 + (mean < 8 ? 0 : MIN((mean - 8) / 10, 22u));
	return nearest_of_three(rgb, cube, grey, grey + 1);
}

uint8_t colour_nearest(uint32_t colour, unsigned colours)
{
	bool indexed = COLOUR_IS_INDEXED(colour);
	if (indexed && COLOUR_INDEX(colour) < colours)
		return COLOUR_INDEX(colour);
	uint32_t rgb = indexed ? colour_palette_rgb(COLOUR_INDEX(colour)) : colour & 0xffffff;
	/* The first 16 differ from terminal to terminal, so 256 colours means the cube and the greys. */
	return colours >= 256 ? nearest_of_cube_and_greys(rgb) : nearest_of(rgb, 0, colours >= 16 ? 16 : 8);
}
