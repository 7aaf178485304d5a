/* Lines come out of the transcript one at a time, so whatever walks over them holds one unpacked row and steps cell by cell. A line
 * of text is a row and, while each is marked as wrapped, the rows after it. */
#include "core/term/select.h"

#include <limits.h>
#include <string.h>

#include "core/base/check.h"

#define WRAPPED_MOST 1000 /* rows that are taken for one line */

struct row {
	uint64_t line;
	size_t used;
	unsigned flags;
	struct cell cells[TERM_COLS_MAX];
};

static void read_row(const struct transcript *t, uint64_t line, struct row *r)
{
	r->line = line;
	r->flags = 0;
	r->used = transcript_line(t, line, r->cells, TERM_COLS_MAX, &r->flags);
	while (r->used > 0 && r->cells[r->used - 1].code == 0 && r->cells[r->used - 1].width == CELL_NARROW)
		r->used--;
}

static unsigned flags_of(const struct transcript *t, uint64_t line)
{
	unsigned flags = 0;
	struct cell one;
	(void)transcript_line(t, line, &one, 1, &flags);
	return flags;
}

/* The row after this one goes on with the same line. */
static bool goes_on(const struct transcript *t, uint64_t line)
{
	return line + 1 < transcript_end(t) && (flags_of(t, line) & ROW_WRAPPED);
}

static uint64_t first_row_of(const struct transcript *t, uint64_t line)
{
	for (unsigned i = 0; i < WRAPPED_MOST && line > transcript_first(t) && goes_on(t, line - 1); i++)
		line--;
	return line;
}

static uint64_t last_row_of(const struct transcript *t, uint64_t line)
{
	for (unsigned i = 0; i < WRAPPED_MOST && goes_on(t, line); i++)
		line++;
	return line;
}

int select_compare(struct select_point a, struct select_point b)
{
	if (a.line != b.line)
		return a.line < b.line ? -1 : 1;
	return a.col == b.col ? 0 : a.col < b.col ? -1 : 1;
}

/* ---- walking over cells ---- */

/* What a cell is part of, as vi has it. */
enum kind { KIND_BLANK, KIND_WORD, KIND_OTHER, KIND_EMPTY /* a line without text */ };

struct walk {
	const struct transcript *t;
	struct row row;
	unsigned col;
	bool crossed; /* the last step went over the end of a line */
};

static unsigned head_of(const struct row *r, unsigned col)
{
	if (r->used == 0)
		return 0;
	unsigned at = MIN(col, MIN((unsigned)r->used, (unsigned)TERM_COLS_MAX) - 1);
	return at > 0 && r->cells[at].width == CELL_TAIL ? at - 1 : at;
}

static void walk_begin(struct walk *w, const struct transcript *t, struct select_point at)
{
	w->t = t;
	w->crossed = false;
	uint64_t first = transcript_first(t), end = transcript_end(t);
	read_row(t, end == first ? first : MIN(MAX(at.line, first), end - 1), &w->row);
	w->col = head_of(&w->row, at.col);
}

static struct select_point walk_at(const struct walk *w)
{
	return (struct select_point){.line = w->row.line, .col = w->col};
}

static bool walk_next(struct walk *w)
{
	unsigned step = w->row.used && w->row.cells[w->col].width == CELL_WIDE ? 2 : 1;
	w->crossed = false;
	if (w->col + step < w->row.used) {
		w->col += step;
		return true;
	}
	if (w->row.line + 1 >= transcript_end(w->t))
		return false;
	w->crossed = !(w->row.flags & ROW_WRAPPED);
	read_row(w->t, w->row.line + 1, &w->row);
	w->col = 0;
	return true;
}

static bool walk_back(struct walk *w)
{
	w->crossed = false;
	if (w->col > 0) {
		w->col = head_of(&w->row, w->col - 1);
		return true;
	}
	if (w->row.line <= transcript_first(w->t))
		return false;
	read_row(w->t, w->row.line - 1, &w->row);
	w->crossed = !(w->row.flags & ROW_WRAPPED);
	w->col = head_of(&w->row, UINT_MAX);
	return true;
}

static uint32_t base_of(const struct walk *w)
{
	uint32_t chars[CLUSTER_MAX];
	size_t n = clusters_get(transcript_clusters(w->t), w->row.cells[w->col].code, chars);
	return n == 0 ? ' ' : chars[0];
}

static bool is_word(uint32_t cp)
{
	return cp == '_' || (cp >= '0' && cp <= '9') || (cp >= 'a' && cp <= 'z') ||
	       (cp >= 'A' && cp <= 'Z') ||
	       (cp >= 0xa1 && !(cp >= 0x2000 && cp < 0x2c00) && !(cp >= 0x3000 && cp < 0x3041));
}

static enum kind kind_at(const struct walk *w)
{
	if (w->row.used == 0)
		return KIND_EMPTY;
	uint32_t cp = base_of(w);
	return cp == ' ' || cp == 0xa0 ? KIND_BLANK : is_word(cp) ? KIND_WORD : KIND_OTHER;
}

/* For selecting: what a path, an address or a name is made of. */
static enum kind selected_kind_at(const struct walk *w)
{
	enum kind kind = kind_at(w);
	if (kind != KIND_OTHER)
		return kind;
	uint32_t cp = base_of(w);
	return cp < 0x80 && strchr("-./~:@%+=?&#*$\\!", (int)cp) ? KIND_WORD : KIND_OTHER;
}

/* ---- selections ---- */

static struct select_point word_edge(const struct transcript *t, struct select_point at,
                                     bool (*step)(struct walk *w))
{
	struct walk w;
	walk_begin(&w, t, at);
	enum kind kind = selected_kind_at(&w);
	struct select_point edge = walk_at(&w);
	uint64_t from = edge.line;
	while (step(&w) && !w.crossed && selected_kind_at(&w) == kind &&
	       MAX(w.row.line, from) - MIN(w.row.line, from) < WRAPPED_MOST)
		edge = walk_at(&w);
	return edge;
}

static struct select_point block_corner(const struct selection *s, bool last)
{
	const struct select_point *a = &s->anchor, *b = &s->end;
	if (last)
		return (struct select_point){.line = MAX(a->line, b->line), .col = MAX(a->col, b->col)};
	return (struct select_point){.line = MIN(a->line, b->line), .col = MIN(a->col, b->col)};
}

/* A place on the tail of a wide cell is on the cell. */
static struct select_point whole_cell(const struct transcript *t, struct select_point p)
{
	struct row r;
	read_row(t, p.line, &r);
	if (p.col < r.used)
		p.col = head_of(&r, p.col);
	return p;
}

struct select_span select_span_of(const struct transcript *t, const struct selection *s)
{
	bool forward = select_compare(s->anchor, s->end) <= 0;
	struct select_span span = {.first = forward ? s->anchor : s->end,
	                           .last = forward ? s->end : s->anchor,
	                           .block = s->kind == SELECT_BLOCK,
	                           .any = s->kind != SELECT_NONE};
	switch (s->kind) {
	case SELECT_NONE: break;
	case SELECT_CHARS:
		span.first = whole_cell(t, span.first);
		span.last = whole_cell(t, span.last);
		break;
	case SELECT_WORDS:
		span.first = word_edge(t, span.first, walk_back);
		span.last = word_edge(t, span.last, walk_next);
		break;
	case SELECT_LINES:
		span.first = (struct select_point){.line = first_row_of(t, span.first.line)};
		span.last =
		    (struct select_point){.line = last_row_of(t, span.last.line), .col = UINT_MAX - 1};
		break;
	case SELECT_BLOCK:
		span.first = block_corner(s, false);
		span.last = block_corner(s, true);
		break;
	}
	return span;
}

bool select_span_cols(const struct select_span *s, uint64_t line, unsigned *from, unsigned *to)
{
	if (!s->any || line < s->first.line || line > s->last.line)
		return false;
	*from = s->block || line == s->first.line ? s->first.col : 0;
	*to = s->block || line == s->last.line ? s->last.col + 1 : UINT_MAX;
	return true;
}

static void append_cells(const struct transcript *t, const struct row *r, unsigned from, size_t to,
                         struct str *out)
{
	for (size_t i = from; i < MIN(to, r->used); i++) {
		char text[CELL_UTF8_MAX];
		str_append_bytes(out, text, clusters_cell_utf8(transcript_clusters(t), &r->cells[i], text));
	}
}

static void drop_blanks(struct str *out, size_t start)
{
	while (!out->overflow && out->len > start && out->s[out->len - 1] == ' ')
		out->s[--out->len] = '\0';
}

void select_text(const struct transcript *t, const struct selection *s, struct str *out)
{
	struct select_span span = select_span_of(t, s);
	if (!span.any || transcript_end(t) == transcript_first(t))
		return;
	uint64_t line = MAX(span.first.line, transcript_first(t));
	uint64_t last = MIN(span.last.line, transcript_end(t) - 1);
	size_t start = out->len; /* of the line */
	for (; line <= last && !out->overflow; line++) {
		struct row r;
		unsigned from = 0, to = 0;
		read_row(t, line, &r);
		select_span_cols(&span, line, &from, &to);
		append_cells(t, &r, from, to, out);
		if (!span.block && line < last && (r.flags & ROW_WRAPPED))
			continue;
		drop_blanks(out, start);
		if (line < last || s->kind == SELECT_LINES)
			str_append_char(out, '\n');
		start = out->len;
	}
}

/* ---- moving ---- */

static struct select_point word_next(struct walk *w)
{
	enum kind kind = kind_at(w);
	do {
		if (!walk_next(w))
			return walk_at(w);
	} while (!w->crossed && kind_at(w) == kind);
	while (kind_at(w) == KIND_BLANK && walk_next(w)) {
	}
	return walk_at(w);
}

/* To the last cell of the kind that it is on, in the direction of `step`. */
static struct select_point run_edge(struct walk *w, bool (*step)(struct walk *w))
{
	enum kind kind = kind_at(w);
	struct select_point edge = walk_at(w);
	while (step(w) && !w->crossed && kind_at(w) == kind)
		edge = walk_at(w);
	return edge;
}

static struct select_point word_back(struct walk *w)
{
	do {
		if (!walk_back(w))
			return walk_at(w);
	} while (kind_at(w) == KIND_BLANK);
	return kind_at(w) == KIND_EMPTY ? walk_at(w) : run_edge(w, walk_back);
}

static struct select_point word_end(struct walk *w)
{
	do {
		if (!walk_next(w))
			return walk_at(w);
	} while (kind_at(w) == KIND_BLANK || kind_at(w) == KIND_EMPTY);
	return run_edge(w, walk_next);
}

static struct select_point one_left(struct walk *w)
{
	struct select_point at = walk_at(w);
	if (walk_back(w) && !w->crossed)
		at = walk_at(w);
	return at;
}

static struct select_point one_right(struct walk *w)
{
	struct select_point at = walk_at(w);
	if (walk_next(w) && !w->crossed)
		at = walk_at(w);
	return at;
}

static struct select_point line_start(struct walk *w)
{
	return (struct select_point){.line = first_row_of(w->t, w->row.line)};
}

static struct select_point line_text(struct walk *w)
{
	walk_begin(w, w->t, line_start(w));
	while (kind_at(w) == KIND_BLANK) {
		struct select_point at = walk_at(w);
		if (!walk_next(w) || w->crossed)
			return at;
	}
	return walk_at(w);
}

static struct select_point line_end(struct walk *w)
{
	walk_begin(w, w->t, (struct select_point){.line = last_row_of(w->t, w->row.line), .col = UINT_MAX});
	return walk_at(w);
}

static struct select_point first_line(struct walk *w)
{
	return (struct select_point){.line = transcript_first(w->t)};
}

static bool row_is_empty(const struct walk *w)
{
	for (size_t i = 0; i < w->row.used; i++) {
		if (w->row.cells[i].code != 0 && w->row.cells[i].code != ' ')
			return false;
	}
	return true;
}

static bool row_step(struct walk *w, int by)
{
	if (by < 0 ? w->row.line <= transcript_first(w->t) : w->row.line + 1 >= transcript_end(w->t))
		return false;
	read_row(w->t, by < 0 ? w->row.line - 1 : w->row.line + 1, &w->row);
	w->col = 0;
	return true;
}

/* The last line with text: the rows under it are only the rest of the screen. */
static struct select_point last_line(struct walk *w)
{
	walk_begin(w, w->t, (struct select_point){.line = transcript_end(w->t)});
	while (row_is_empty(w) && row_step(w, -1)) {
	}
	return (struct select_point){.line = w->row.line};
}

static struct select_point paragraph(struct walk *w, int by)
{
	while (row_is_empty(w) && row_step(w, by)) {
	}
	while (!row_is_empty(w) && row_step(w, by)) {
	}
	return (struct select_point){.line = w->row.line};
}

static struct select_point paragraph_back(struct walk *w)
{
	return paragraph(w, -1);
}

static struct select_point paragraph_next(struct walk *w)
{
	return paragraph(w, 1);
}

static struct select_point prompt_previous(struct walk *w)
{
	for (uint64_t line = w->row.line; line > transcript_first(w->t); line--) {
		if (flags_of(w->t, line - 1) & ROW_PROMPT)
			return (struct select_point){.line = line - 1};
	}
	return walk_at(w);
}

static struct select_point prompt_next(struct walk *w)
{
	for (uint64_t line = w->row.line + 1; line < transcript_end(w->t); line++) {
		if (flags_of(w->t, line) & ROW_PROMPT)
			return (struct select_point){.line = line};
	}
	return walk_at(w);
}

static struct select_point row_up(struct walk *w)
{
	unsigned col = w->col;
	row_step(w, -1);
	return (struct select_point){.line = w->row.line, .col = head_of(&w->row, col)};
}

static struct select_point row_down(struct walk *w)
{
	unsigned col = w->col;
	row_step(w, 1);
	return (struct select_point){.line = w->row.line, .col = head_of(&w->row, col)};
}

struct select_point select_move(const struct transcript *t, enum select_motion motion,
                                struct select_point from)
{
	static struct select_point (*const MOTIONS[SELECT_MOTION_COUNT])(struct walk * w) = {
	    [SELECT_LEFT] = one_left,
	    [SELECT_RIGHT] = one_right,
	    [SELECT_UP] = row_up,
	    [SELECT_DOWN] = row_down,
	    [SELECT_WORD_NEXT] = word_next,
	    [SELECT_WORD_BACK] = word_back,
	    [SELECT_WORD_END] = word_end,
	    [SELECT_LINE_START] = line_start,
	    [SELECT_LINE_TEXT] = line_text,
	    [SELECT_LINE_END] = line_end,
	    [SELECT_FIRST] = first_line,
	    [SELECT_LAST] = last_line,
	    [SELECT_PARAGRAPH_BACK] = paragraph_back,
	    [SELECT_PARAGRAPH_NEXT] = paragraph_next,
	    [SELECT_PROMPT_PREVIOUS] = prompt_previous,
	    [SELECT_PROMPT_NEXT] = prompt_next,
	};
	struct walk w;
	CHECK(motion < SELECT_MOTION_COUNT);
	walk_begin(&w, t, from);
	return select_clamp(t, MOTIONS[motion](&w));
}

struct select_point select_clamp(const struct transcript *t, struct select_point p)
{
	struct walk w;
	walk_begin(&w, t, p);
	return walk_at(&w);
}
