/* A screen as a picture: text of an SVG file, the same for the same screen. Pure.
 *
 * Real text (it can be selected and searched), placed on a grid: a run of cells of one style is one <text> whose width
 * is fixed, so that no font shifts a column. Nothing but printable characters of cells gets in, and those escaped. */
#ifndef CCVM_TERM_SVG_H
#define CCVM_TERM_SVG_H

#include "core/base/str.h"
#include "core/term/screen.h"

struct svg_look {
	const char *title; /* borrowed; UTF-8 for whoever cannot see the picture; NULL or "": none */
	uint32_t fg, bg;   /* the default colours, 0xRRGGBB */
	bool cursor;       /* draw it where it is visible */
};
#define SVG_LOOK_DARK                          \
	{                                      \
		.fg = 0xd8d8d8, .bg = 0x14161b \
	}

/* Appends the whole file. SVG_TEXT_MAX is enough for any screen. */
#define SVG_TEXT_MAX ((size_t)384 * 1024 * 1024)
void svg_draw(const struct screen *s, const struct svg_look *look, struct str *out);

#endif
