/* OSC and DCS: titles, the colour questions that programs ask at their start, notices, and DECRQSS. Everything else is dropped,
 * on purpose: the operator's clipboard (52) is none of a guest's business. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/parse.h"
#include "core/term/sgr.h"
#include "core/term/state.h"
#include "core/term/unicode.h"

#define TITLE_BYTES_MAX 1024 /* a longer one is nonsense and is dropped */

static void set_title(struct emulator *e, char *text, bool bel)
{
	char title[TERM_TITLE_MAX + 1];
	size_t len = strlen(text);
	(void)bel;
	if (len > TITLE_BYTES_MAX)
		return;
	utf8_printable(title, sizeof(title), text, len);
	state_set_title(e, title);
}

static void reply_colour(struct emulator *e, const char *what, uint32_t rgb, bool bel)
{
	unsigned r = COLOUR_RED(rgb) * 257u, g = COLOUR_GREEN(rgb) * 257u, b = COLOUR_BLUE(rgb) * 257u;
	state_reply(e, "\x1b]%s;rgb:%04x/%04x/%04x%s", what, r, g, b, bel ? "\a" : "\x1b\\");
}

/* "n;?" pairs: the palette. */
static void query_palette(struct emulator *e, char *text, bool bel)
{
	char *save = NULL;
	char *number = strtok_r(text, ";", &save);
	uint64_t index;
	char what[16];
	if (number == NULL || save == NULL || strcmp(save, "?") != 0 || !parse_u64(number, 0, 255, &index))
		return;
	snprintf(what, sizeof(what), "4;%d", (int)index);
	reply_colour(e, what, colour_palette_rgb((uint8_t)index), bel);
}

static void query_foreground(struct emulator *e, char *text, bool bel)
{
	if (strcmp(text, "?") == 0)
		reply_colour(e, "10", e->default_fg, bel);
}

static void query_background(struct emulator *e, char *text, bool bel)
{
	if (strcmp(text, "?") == 0)
		reply_colour(e, "11", e->default_bg, bel);
}

static void query_cursor(struct emulator *e, char *text, bool bel)
{
	if (strcmp(text, "?") == 0)
		reply_colour(e, "12", e->default_fg, bel);
}

/* The value of "id" among "key=value" pairs with colons between them; its length, 0 when there is none. */
static size_t find_id(const char *params, const char **id)
{
	for (const char *p = params;; p++) {
		size_t len = strcspn(p, ":");
		if (strncmp(p, "id=", 3) == 0) {
			*id = p + 3;
			return len - 3;
		}
		p += len;
		if (*p == '\0')
			return 0;
	}
}

/* "params;URI" begins a hyperlink; one without a URI, or with one that nobody should follow, ends it. */
static void hyperlink(struct emulator *e, char *text, bool bel)
{
	const char *id = NULL;
	char *uri = strchr(text, ';');
	(void)bel;
	e->pen.link = 0;
	if (uri == NULL)
		return;
	*uri++ = '\0';
	size_t id_len = find_id(text, &id), len = strlen(uri);
	if (!link_is_valid(uri, len))
		return;
	uint32_t known_as = id_len > 0 ? link_id(id, id_len) : 0;
	unsigned link = links_intern(&e->clusters.links, known_as, uri, len);
	if (link == 0 && e->sweep_wait == 0) {
		state_sweep(e);
		link = links_intern(&e->clusters.links, known_as, uri, len);
	}
	if (link == 0)
		e->sweep_wait -= e->sweep_wait > 0;
	e->pen.link = link & CELL_LINK_MASK;
}

static const struct {
	const char *number;
	void (*handle)(struct emulator *e, char *text, bool bel); /* `text`: what comes after the number */
} OSCS[] = {
    {"0", set_title},      {"2", set_title},         {"4", query_palette},     {"8", hyperlink},
    {"9", notices_osc9},   {"10", query_foreground}, {"11", query_background}, {"12", query_cursor},
    {"99", notices_osc99}, {"133", notices_osc133},  {"777", notices_osc777},
};

static void handle_osc(struct emulator *e, char *text, bool bel)
{
	char *rest = strchr(text, ';');
	if (rest == NULL)
		return;
	*rest++ = '\0';
	for (size_t i = 0; i < ARRAY_LEN(OSCS); i++)
		if (strcmp(text, OSCS[i].number) == 0)
			OSCS[i].handle(e, rest, bel);
}

/* DECRQSS: how is this set now? Answered for the style of the pen and the shape of the cursor, refused for the rest. */
static void request_setting(struct emulator *e, const char *what)
{
	if (strcmp(what, "m") == 0) {
		struct buf sgr = BUF_INIT(128);
		sgr_put(&sgr, &e->pen, 256, true);
		state_reply(e, "\x1bP1$r%.*s\x1b\\", (int)sgr.len - 2, (const char *)sgr.data + 2);
		buf_finish(&sgr);
	} else if (strcmp(what, " q") == 0) {
		int steady = (e->modes & MODE_CURSOR_BLINK) == 0;
		int style = e->cursor_shape == CURSOR_DEFAULT ? steady * 2 : e->cursor_shape * 2 - 1 + steady;
		state_reply(e, "\x1bP1$r%d q\x1b\\", style);
	} else {
		state_reply(e, "\x1bP0$r\x1b\\");
	}
}

void strings_handle(struct emulator *e, enum filter_string kind, const uint8_t *bytes, size_t len, bool bel)
{
	char text[FILTER_STRING_MAX + 1];
	memcpy(text, bytes != NULL ? bytes : (const uint8_t *)"", len);
	text[len] = '\0';
	if (kind == FILTER_OSC)
		handle_osc(e, text, bel);
	else if (strncmp(text, "$q", 2) == 0)
		request_setting(e, text + 2);
}
