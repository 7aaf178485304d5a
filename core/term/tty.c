/* How a frame is drawn: row by row, only cells that differ, with the style, the link and the cursor tracked so that nothing is
 * sent twice. Lines are never wrapped. When the picture has scrolled (shift.h), the terminal moves those rows first.
 *
 * Terminals disagree about the width of emoji and the like. Where such a glyph stands,
 * - the cell after it is written first, when that is a blank or the glyph's own right half: a terminal that draws the glyph narrow shows
 *   nothing old there, and one that draws it wide may have the place;
 * - anything else in that cell is written after it, over whatever spilled: the glyph may suffer, columns never shift;
 * - the place of the real cursor counts as unknown afterwards, so the next cell gets an absolute move. */
#include "core/term/tty.h"

#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/mem.h"
#include "core/term/ascii.h"
#include "core/term/input.h"
#include "core/term/sgr.h"
#include "core/term/shift.h"
#include "core/term/unicode.h"

#define FRAME_MAX ((size_t)64 * 1024 * 1024) /* far over the worst case of TERM_ROWS_MAX x TERM_COLS_MAX */

/* Mode 1007 turns the wheel into arrow keys on the alternate screen, which a shell would take for its history; terminals differ
 * in how it is set at first, so it is saved and restored. */
#define ENTER                                                              \
	"\x1b[22;0t\x1b[?1049h\x1b[0m\x1b[r\x1b[?7l\x1b[?2004h\x1b[?1004h" \
	"\x1b[?1007s\x1b[?1007l\x1b[2J\x1b[H"
#define MOUSE_OFF "\x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b[?1006l"
/* First the end of whatever sequence was cut in the middle. Also undoes what a program might have left behind that used the
 * terminal directly. */
#define LEAVE                                                                             \
	"\x1b\\\x1b[?2026l\x1b[0m\x1b]8;;\x1b\\\x1b[r" MOUSE_OFF "\x1b[?1004l\x1b[?2004l" \
	"\x1b[<u\x1b[>4m\x1b[?1007r\x1b[?7h\x1b[?25h\x1b[0 q\x1b[?1049l\x1b[23;0t"
#define QUESTIONS "\x1b[?2026$p\x1b[?u\x1b[c"
static_assert(sizeof(ENTER) <= TTY_BYTES_MAX && sizeof(LEAVE) <= TTY_BYTES_MAX, "they fit");

static void put_text(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
}

/* ---- what a terminal can do ---- */

/* Names of terminals as they begin, or as they end after a dash. */
static const struct kind {
	const char *name;
	bool ending;
	unsigned colours; /* when terminfo was not asked */
	bool truecolor;
	bool plain; /* takes parameters with colons, or OSC 8, for something else */
} KINDS[] = {
    {"xterm-kitty", false, 256, true, false},
    {"xterm-ghostty", false, 256, true, false},
    {"ghostty", false, 256, true, false},
    {"foot", false, 256, true, false},
    {"alacritty", false, 256, true, false},
    {"wezterm", false, 256, true, false},
    {"screen", false, 8, false, true},
    {"linux", false, 8, false, true},
    {"cons25", false, 8, false, true},
    {"rxvt", false, 8, false, true},
    {"vt", false, 0, false, true},
    {"dumb", false, 0, false, true},
    {"-direct", true, 256, true, false},
};

static bool is_kind(const struct kind *k, const char *term)
{
	size_t len = strlen(term), n = strlen(k->name);
	return len >= n && memcmp(k->ending ? term + len - n : term, k->name, n) == 0;
}

static bool is_set(const char *value)
{
	return value != NULL && *value != '\0';
}

bool tty_is_known(const char *term)
{
	for (size_t i = 0; i < ARRAY_LEN(KINDS); i++)
		if (KINDS[i].truecolor && !KINDS[i].ending && is_kind(&KINDS[i], term))
			return true;
	return false;
}

struct tty_env tty_env_get(void)
{
	return (struct tty_env){.term = getenv("TERM"),
	                        .colorterm = getenv("COLORTERM"),
	                        .no_color = getenv("NO_COLOR"),
	                        .codeset = nl_langinfo(CODESET),
	                        .sty = getenv("STY"),
	                        .tmux = getenv("TMUX"),
	                        .colours = -1};
}

static unsigned round_colours(int terminfo)
{
	return terminfo >= 256 ? 256 : terminfo >= 16 ? 16 : terminfo >= 8 ? 8 : 0;
}

struct tty_caps tty_caps_guess(const struct tty_env *env)
{
	static const struct kind NAMELESS = {"", false, 0, false, true},
	                         COMMON = {"", false, 8, false, false};
	const char *term = is_set(env->term) ? env->term : "";
	const struct kind *kind = *term ? &COMMON : &NAMELESS;
	for (size_t i = 0; i < ARRAY_LEN(KINDS); i++)
		if (is_kind(&KINDS[i], term)) {
			kind = &KINDS[i];
			break;
		}
	/* tmux may call itself screen, and each may run inside the other and hand its variables on. GNU screen hands COLORTERM of
	 * the terminal around it on, but knows no RGB. */
	bool in_tmux = is_set(env->tmux) && (!is_set(env->sty) || strncmp(term, "tmux", 4) == 0);
	bool in_screen = is_set(env->sty) && !in_tmux;
	bool plain = (kind->plain && !(in_tmux && strncmp(term, "screen", 6) == 0)) || in_screen;
	bool asked = env->colours >= 0;
	struct tty_caps caps = {
	    .underlines = !plain, .links = !plain, .truecolor = kind->truecolor && !in_screen};
	caps.colours = asked ? round_colours(env->colours) : strstr(term, "256color") ? 256 : kind->colours;
	if (env->colorterm != NULL && !in_screen && (caps.colours > 0 || !*term) &&
	    (strcmp(env->colorterm, "truecolor") == 0 || strcmp(env->colorterm, "24bit") == 0))
		caps.truecolor = true;
	if (caps.truecolor)
		caps.colours = 256;
	if (is_set(env->no_color)) {
		caps.colours = 0;
		caps.truecolor = false;
	}
	caps.ascii = env->codeset == NULL || strcasecmp(env->codeset, "UTF-8") != 0;
	return caps;
}

/* ---- entering, leaving, asking ---- */

#define TEXT_BYTES(text) ((struct bytes){(const uint8_t *)(text), sizeof(text) - 1})

struct bytes tty_enter_bytes(void)
{
	return TEXT_BYTES(ENTER);
}

struct bytes tty_leave_bytes(void)
{
	return TEXT_BYTES(LEAVE);
}

struct bytes tty_questions(void)
{
	return TEXT_BYTES(QUESTIONS);
}

void tty_answer(struct tty_caps *caps, const struct input_event *reply, struct buf *out)
{
	if (reply->reply == REPLY_SYNC)
		caps->sync = reply->yes;
	else if (reply->reply == REPLY_KEYS && reply->yes)
		put_text(out, "\x1b[>1u");
}

void tty_mouse(unsigned modes, struct buf *out)
{
	put_text(out, MOUSE_OFF);
	if (modes & TERM_MOUSE_MOVE)
		put_text(out, "\x1b[?1003h");
	else if (modes & TERM_MOUSE_DRAG)
		put_text(out, "\x1b[?1002h");
	else if (modes & TERM_MOUSE_CLICK)
		put_text(out, "\x1b[?1000h");
	else
		return;
	put_text(out, "\x1b[?1006h");
}

void tty_title(const char *title, struct buf *out)
{
	size_t len = strlen(title), n;
	put_text(out, "\x1b]2;");
	for (size_t i = 0; i < len; i += n) {
		uint32_t cp;
		n = utf8_decode((const uint8_t *)title + i, len - i, &cp);
		if (n == 0)
			break;
		if (codepoint_is_base(cp) && cp != UNICODE_REPLACEMENT)
			buf_put(out, title + i, n);
	}
	put_text(out, "\x1b\\");
}

/* ---- writing cells ---- */

struct painter {
	struct buf *out;
	const struct tty_caps *caps;
	struct cell style; /* what the terminal's SGR is now */
	bool style_known;
	const char *link; /* the URI that is open, or NULL; of the frame's own table */
	int row, col;     /* where its cursor is; -1: unknown */
};

static const struct cell PLAIN = {0};

static void paint_style(struct painter *p, const struct cell *c)
{
	struct cell want = *c;
	if (!p->caps->underlines && (want.attrs & CELL_UNDERLINE_MASK)) {
		want.attrs &= (uint16_t)~CELL_UNDERLINE_MASK;
		want.attrs |= UNDERLINE_SINGLE << CELL_UNDERLINE_SHIFT;
		want.ul = COLOUR_DEFAULT;
	}
	if (p->style_known && cell_same_style(&p->style, &want))
		return;
	sgr_put(p->out, &want, p->caps->colours, p->caps->truecolor);
	p->style = want;
	p->style_known = true;
}

/* A file of the guest is not that file of the operator. */
static const char *link_of(const struct clusters *clusters, const struct cell *c)
{
	const char *uri = c->link != 0 && clusters != NULL ? clusters_link(clusters, c->link) : NULL;
	return uri != NULL && strncasecmp(uri, "file:", 5) != 0 ? uri : NULL;
}

/* The same URI has the same id, so that a terminal knows the rows of one link as one, also of different frames. */
static void paint_link(struct painter *p, const char *uri)
{
	char text[32];
	uint32_t hash = 2166136261u;
	if (!p->caps->links || uri == p->link)
		return;
	p->link = uri;
	if (uri == NULL) {
		put_text(p->out, "\x1b]8;;\x1b\\");
		return;
	}
	for (const char *c = uri; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 16777619u;
	buf_put(p->out, text, (size_t)snprintf(text, sizeof(text), "\x1b]8;id=%08x;", hash));
	put_text(p->out, uri);
	put_text(p->out, "\x1b\\");
}

static void paint_move(struct painter *p, int row, int col)
{
	char text[32];
	int n;
	if (p->row == row && p->col == col)
		return;
	if (p->row == row && col == p->col + 1)
		n = snprintf(text, sizeof(text), "\x1b[C");
	else if (p->row == row && col > p->col)
		n = snprintf(text, sizeof(text), "\x1b[%dC", col - p->col);
	else if (p->row >= 0 && row == p->row + 1 && col == 0)
		n = snprintf(text, sizeof(text), "\r\n");
	else
		n = snprintf(text, sizeof(text), "\x1b[%d;%dH", row + 1, col + 1);
	buf_put(p->out, text, (size_t)n);
	p->row = row;
	p->col = col;
}

/* The code points that are sent for a cell. Returns how many. */
static size_t glyph_of(const struct clusters *clusters, const struct cell *c, uint32_t chars[CLUSTER_MAX])
{
	size_t n = clusters_get(clusters, c->code, chars);
	if (n == 0 || !codepoint_is_base(chars[0])) {
		chars[0] = ' ';
		n = 1;
	}
	return n;
}

/* The terminal may put it in another number of columns than we think. */
static bool is_unsure(const struct clusters *clusters, const struct cell *c)
{
	uint32_t chars[CLUSTER_MAX];
	if (c->code < 0x80)
		return false;
	size_t n = glyph_of(clusters, c, chars);
	return n > 1 || codepoint_is_width_unsure(chars[0]);
}

static void paint_glyph(struct painter *p, const struct clusters *clusters, const struct cell *c)
{
	uint32_t chars[CLUSTER_MAX];
	if (c->code == 0 || (c->code >= 0x20 && c->code < 0x7f)) {
		buf_put_u8(p->out, c->code == 0 ? ' ' : (uint8_t)c->code);
		return;
	}
	size_t n = glyph_of(clusters, c, chars);
	if (p->caps->ascii) {
		buf_put_u8(p->out, (uint8_t)ascii_likeness(chars[0]));
		if (c->width == CELL_WIDE)
			buf_put_u8(p->out, ' ');
		return;
	}
	for (size_t i = 0; i < n; i++) {
		char text[4];
		/* A variation selector would make the glyph wider than its cell. */
		if (i > 0 && chars[i] == 0xfe0f)
			continue;
		buf_put(p->out, text, utf8_encode(chars[i], text));
	}
}

/* ---- what is to be seen ---- */

/* One screen as it is shown in a window of rows x cols, from row `top` on. */
struct view {
	const struct screen *s; /* NULL: empty */
	unsigned top, rows, cols;
	bool reverse;
	struct shift moved; /* rows that the terminal has moved since; lines 0: none */
};

static struct view view_of(const struct screen *s, unsigned rows, unsigned cols)
{
	struct view v = {.s = s, .rows = rows, .cols = cols};
	if (s == NULL)
		return v;
	v.reverse = (s->modes & TERM_REVERSE_VIDEO) != 0;
	if (s->rows > rows && s->cursor.row >= rows)
		v.top = s->cursor.row - rows + 1u;
	return v;
}

/* Where a row of the terminal comes from; false: it was emptied. */
static bool view_row(const struct view *v, unsigned *row)
{
	const struct shift *m = &v->moved;
	if (m->lines == 0 || *row < m->first || *row > m->last)
		return true;
	long from = (long)*row + m->lines;
	*row = (unsigned)from;
	return from >= (long)m->first && from <= (long)m->last;
}

static struct cell view_cell(const struct view *v, unsigned row, unsigned col)
{
	struct cell c = {0};
	if (v->s == NULL || !view_row(v, &row))
		return c;
	const struct cell *at = screen_cell(v->s, row + v->top, col);
	if (at != NULL)
		c = *at;
	if (c.width == CELL_WIDE && col + 1 >= v->cols) {
		c.width = CELL_NARROW;
		c.code = 0;
	}
	if (c.code == ' ')
		c.code = 0;
	if (v->reverse && at != NULL)
		c.attrs ^= CELL_REVERSE;
	return c;
}

static const struct clusters *view_clusters(const struct view *v)
{
	return v->s != NULL ? &v->s->clusters : NULL;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Indexes of clusters and links mean something only in their own table. */
static bool cells_differ(const struct view *a, const struct cell *ca, const struct view *b,
                         const struct cell *cb)
{
	if (!CELL_IS_CLUSTER(ca->code) && !CELL_IS_CLUSTER(cb->code) && ca->link == 0 && cb->link == 0)
		return !cell_equal(ca, cb);
	uint32_t chars_a[CLUSTER_MAX] = {0}, chars_b[CLUSTER_MAX] = {0};
	clusters_get(view_clusters(a), ca->code, chars_a);
	clusters_get(view_clusters(b), cb->code, chars_b);
	return memcmp(chars_a, chars_b, sizeof(chars_a)) != 0 || ca->width != cb->width ||
	       !cell_same_style(ca, cb) ||
	       !same_text(link_of(view_clusters(a), ca), link_of(view_clusters(b), cb));
}

static bool differs_at(const struct view *prev, const struct view *next, unsigned row, unsigned col)
{
	struct cell old = view_cell(prev, row, col), now = view_cell(next, row, col);
	return cells_differ(prev, &old, next, &now);
}

/* Quickly: false may also mean that it is not known. Without clusters and links, equal bytes are equal cells. */
static bool row_same(const struct view *a, const struct view *b, unsigned row)
{
	unsigned row_a = row, row_b = row;
	if (a->s == NULL || b->s == NULL || a->s->cols != b->s->cols || a->reverse != b->reverse ||
	    !view_row(a, &row_a) || !view_row(b, &row_b))
		return false;
	const struct clusters *x = &a->s->clusters, *y = &b->s->clusters;
	if (x->count + y->count + x->links.count + y->links.count > 0)
		return false;
	const struct cell *cells_a = screen_cell(a->s, row_a + a->top, 0),
	                  *cells_b = screen_cell(b->s, row_b + b->top, 0);
	return cells_a && cells_b && memcmp(cells_a, cells_b, a->s->cols * sizeof(*cells_a)) == 0;
}

static bool looks_blank(const struct cell *c)
{
	return cell_is_blank(c) && c->link == 0;
}

/* First column from which on the row is blank. */
static unsigned text_end(const struct view *v, unsigned row)
{
	unsigned end = v->cols;
	while (end > 0) {
		struct cell c = view_cell(v, row, end - 1);
		if (!looks_blank(&c))
			break;
		end--;
	}
	return end;
}

/* ---- frames ---- */

static void draw_blank(struct painter *p, int row, int col, const struct cell *style)
{
	paint_move(p, row, col);
	paint_style(p, style);
	paint_link(p, NULL);
	buf_put_u8(p->out, ' ');
	p->col++;
}

/* Returns the columns that are done; *over: the glyph may have spilled into the next one, which is to be written over it. */
static unsigned draw_cell(struct painter *p, const struct view *v, unsigned row, unsigned col,
                          const struct cell *c, bool *over)
{
	unsigned width = c->width == CELL_WIDE ? 2 : 1, done = width;
	bool unsure = !p->caps->ascii && is_unsure(view_clusters(v), c);
	*over = false;
	if (unsure && col + 1 < v->cols) {
		struct cell next = view_cell(v, row, col + 1);
		if (width == 2 || cell_is_blank(&next)) {
			draw_blank(p, (int)row, (int)col + 1, width == 2 ? c : &next);
			done = 2;
		} else {
			*over = true;
		}
	}
	paint_move(p, (int)row, (int)col);
	paint_style(p, c);
	paint_link(p, link_of(view_clusters(v), c));
	paint_glyph(p, view_clusters(v), c);
	p->col += (int)width;
	if (unsure || p->col >= (int)v->cols)
		p->row = -1;
	return done;
}

static void draw_row(struct painter *p, const struct view *prev, const struct view *next, unsigned row)
{
	if (row_same(prev, next, row))
		return;
	unsigned end = text_end(next, row), old_end = text_end(prev, row), col = 0;
	bool over = false;
	while (col < end) {
		struct cell c = view_cell(next, row, col), old = view_cell(prev, row, col);
		if (c.width == CELL_TAIL) {
			col++;
			continue;
		}
		bool differs = over || cells_differ(prev, &old, next, &c);
		if (!differs && (c.width == CELL_WIDE || is_unsure(view_clusters(next), &c)) &&
		    col + 1 < next->cols)
			differs = differs_at(prev, next, row, col + 1);
		if (differs) {
			col += draw_cell(p, next, row, col, &c, &over);
		} else {
			col += c.width == CELL_WIDE ? 2 : 1;
			over = false;
		}
	}
	if (old_end > col) {
		paint_move(p, (int)row, (int)col);
		paint_style(p, &PLAIN);
		paint_link(p, NULL);
		put_text(p->out, "\x1b[K");
	}
}

static uint64_t row_hash(const struct view *v, unsigned row)
{
	uint64_t h = 0;
	unsigned end = text_end(v, row);
	for (unsigned col = 0; col < end; col++) {
		struct cell c = view_cell(v, row, col);
		uint32_t chars[CLUSTER_MAX] = {c.code};
		if (CELL_IS_CLUSTER(c.code))
			clusters_get(view_clusters(v), c.code, chars);
		h = (h ^ chars[0] ^ (uint64_t)chars[1] << 21 ^ (uint64_t)c.attrs << 43) * 0x9e3779b97f4a7c15u;
		h = (h ^ h >> 29 ^ c.fg ^ (uint64_t)c.bg << 32) * 0xbf58476d1ce4e5b9u;
	}
	return end > 0 ? h | 1 : 0;
}

/* Lets the terminal move what has only moved. A line feed at the bottom of a region and a reverse one at its top are what all
 * terminals know. The hashes only choose: every cell is compared afterwards. */
static void draw_shift(struct painter *p, struct view *prev, const struct view *next)
{
	unsigned rows = next->rows, changed = 0;
	for (unsigned row = 0; row < rows; row++)
		changed += !row_same(prev, next, row);
	if (changed < SHIFT_GAIN)
		return;
	uint64_t *before = mem_array(rows * 2u, sizeof(*before)), *after = before + rows;
	struct shift s;
	for (unsigned row = 0; row < rows; row++) {
		before[row] = row_hash(prev, row);
		after[row] = row_hash(next, row);
	}
	if (shift_find(before, after, rows, &s)) {
		char text[48];
		int at = s.lines > 0 ? (int)s.last : (int)s.first;
		paint_style(p, &PLAIN);
		buf_put(p->out, text,
		        (size_t)snprintf(text, sizeof(text), "\x1b[%u;%ur\x1b[%d;1H", s.first + 1, s.last + 1,
		                         at + 1));
		for (int i = 0; i < abs(s.lines); i++)
			put_text(p->out, s.lines > 0 ? "\n" : "\x1bM");
		put_text(p->out, "\x1b[r");
		prev->moved = s;
	}
	free(before);
}

static void draw_cursor(struct painter *p, const struct screen *prev, const struct view *next)
{
	const struct term_cursor *c = &next->s->cursor;
	if (prev == NULL || prev->cursor.shape != c->shape || prev->cursor.blink != c->blink) {
		char text[16];
		int style = c->shape == CURSOR_DEFAULT ? 0 : c->shape * 2 - (c->blink ? 1 : 0);
		buf_put(p->out, text, (size_t)snprintf(text, sizeof(text), "\x1b[%d q", style));
	}
	if (c->visible && c->row - next->top < next->rows && c->col < next->cols) {
		p->row = -1;
		paint_move(p, (int)(c->row - next->top), c->col);
		put_text(p->out, "\x1b[?25h");
	}
}

static bool cursor_equal(const struct term_cursor *a, const struct term_cursor *b)
{
	return a->row == b->row && a->col == b->col && a->visible == b->visible && a->blink == b->blink &&
	       a->shape == b->shape;
}

void tty_draw(const struct screen *prev, const struct screen *next, unsigned rows, unsigned cols,
              const struct tty_caps *caps, struct buf *out)
{
	struct buf frame = BUF_INIT(FRAME_MAX);
	struct painter p = {.out = &frame, .caps = caps, .row = -1, .col = -1};
	struct view old = view_of(prev, rows, cols), new = view_of(next, rows, cols);
	if (prev == NULL)
		put_text(&frame, "\x1b[0m\x1b[r\x1b[?7l\x1b[2J");
	else
		draw_shift(&p, &old, &new);
	for (unsigned row = 0; row < rows; row++)
		draw_row(&p, &old, &new, row);
	paint_link(&p, NULL);
	if (prev != NULL && prev->bells != next->bells)
		buf_put_u8(&frame, '\a');
	if (frame.len > 0 || !cursor_equal(&prev->cursor, &next->cursor)) {
		if (p.style_known)
			put_text(&frame, "\x1b[0m");
		draw_cursor(&p, prev, &new);
		put_text(out, caps->sync ? "\x1b[?2026h\x1b[?25l" : "\x1b[?25l");
		buf_put(out, frame.data, frame.len);
		if (caps->sync)
			put_text(out, "\x1b[?2026l");
	}
	buf_finish(&frame);
}

void tty_dump(const struct screen *s, const struct tty_caps *caps, struct buf *out)
{
	struct view v = view_of(s, s->rows, s->cols);
	unsigned rows = s->rows;
	while (rows > 0 && text_end(&v, rows - 1) == 0)
		rows--;
	for (unsigned row = 0; row < rows; row++) {
		struct painter p = {.out = out, .caps = caps, .style_known = true};
		unsigned end = text_end(&v, row);
		for (unsigned col = 0; col < end; col++) {
			struct cell c = view_cell(&v, row, col);
			if (c.width == CELL_TAIL)
				continue;
			paint_style(&p, &c);
			paint_link(&p, link_of(&s->clusters, &c));
			paint_glyph(&p, &s->clusters, &c);
		}
		paint_style(&p, &PLAIN);
		paint_link(&p, NULL);
		put_text(out, "\r\n");
	}
}
