/* Knuth, Morris and Pratt: each cell is looked at once, however often the text nearly matches, so that a guest cannot make a
 * search slow. */
#include "core/term/find.h"

#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "core/base/check.h"
#include "core/term/unicode.h"

static uint32_t fold(uint32_t cp)
{
	return cp < 0x80 ? (cp >= 'A' && cp <= 'Z' ? cp + 32 : cp) : (uint32_t)towlower((wint_t)cp);
}

void find_needle_init(struct find_needle *n, const char *utf8)
{
	size_t left = strlen(utf8);
	n->count = 0;
	n->exact = false;
	while (left > 0 && n->count < FIND_NEEDLE_MAX) {
		uint32_t cp;
		size_t used = utf8_decode((const uint8_t *)utf8, left, &cp);
		if (used == 0)
			break;
		n->chars[n->count++] = cp;
		n->exact |= fold(cp) != cp;
		utf8 += used;
		left -= used;
	}
}

struct matcher {
	const struct find_needle *needle;
	uint16_t fail
	    [FIND_NEEDLE_MAX]; /* length of the longest start of the needle that ends before this place of it */
	struct select_point at[FIND_NEEDLE_MAX]; /* of the last characters, in a ring */
	size_t state, fed;
};

static void matcher_init(struct matcher *m, const struct find_needle *n)
{
	m->needle = n;
	m->state = m->fed = 0;
	m->fail[0] = 0;
	for (size_t i = 1, k = 0; i < n->count; i++) {
		while (k > 0 && n->chars[i] != n->chars[k])
			k = m->fail[k - 1];
		k += n->chars[i] == n->chars[k];
		m->fail[i] = (uint16_t)k;
	}
}

/* Where what matches so far begins; of use while state > 0. */
static struct select_point matcher_start(const struct matcher *m)
{
	return m->at[(m->fed - m->state) % FIND_NEEDLE_MAX];
}

/* The next character. True: the needle is complete. */
static bool matcher_feed(struct matcher *m, uint32_t cp, struct select_point at)
{
	const struct find_needle *n = m->needle;
	cp = n->exact ? cp : fold(cp);
	m->at[m->fed++ % FIND_NEEDLE_MAX] = at;
	while (m->state > 0 && n->chars[m->state] != cp)
		m->state = m->fail[m->state - 1];
	m->state += n->chars[m->state] == cp;
	return m->state == n->count;
}

struct row {
	uint64_t line;
	size_t used;
	unsigned flags;
	struct cell cells[TERM_COLS_MAX];
};

struct search {
	const struct transcript *t;
	struct matcher m;
	uint64_t end; /* matches begin in lines before this one */
	bool (*found)(void *arg, const struct find_match *m);
	void *arg;
};

/* False: the search is over. */
static bool search_cell(struct search *s, const struct row *r, unsigned col)
{
	uint32_t chars[CLUSTER_MAX];
	size_t n = clusters_get(transcript_clusters(s->t), r->cells[col].code, chars);
	struct select_point at = {.line = r->line, .col = col};
	if (n == 0)
		chars[n++] = ' ';
	for (size_t i = 0; i < n; i++) {
		if (!matcher_feed(&s->m, chars[i], at))
			continue;
		struct find_match found = {.first = matcher_start(&s->m), .last = at};
		s->m.state = 0;
		if (found.first.line >= s->end || !s->found(s->arg, &found))
			return false;
	}
	return true;
}

static bool search_row(struct search *s, const struct row *r)
{
	for (unsigned col = 0; col < r->used; col++) {
		if (r->cells[col].width != CELL_TAIL && !search_cell(s, r, col))
			return false;
	}
	if (!(r->flags & ROW_WRAPPED))
		s->m.state = 0;
	return r->line + 1 < s->end || (s->m.state > 0 && matcher_start(&s->m).line < s->end);
}

void find_all(const struct transcript *t, const struct find_needle *n, uint64_t from, uint64_t to,
              bool (*found)(void *arg, const struct find_match *m), void *arg)
{
	struct search s = {.t = t, .end = to, .found = found, .arg = arg};
	if (n->count == 0)
		return;
	matcher_init(&s.m, n);
	for (uint64_t line = MAX(from, transcript_first(t)); line < transcript_end(t); line++) {
		struct row r;
		r.line = line;
		r.flags = 0;
		r.used = transcript_line(t, line, r.cells, TERM_COLS_MAX, &r.flags);
		if (!search_row(&s, &r))
			return;
	}
}
