/* Pieces in an array, the newest first: the screen, then what TERM_LINES brought. Each keeps its bytes as they came and where
 * every line begins; a line is found by bisection. Lines are checked once, when they arrive. */
#include "core/term/transcript.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/term/pack.h"
#include "core/term/scrollback.h"
#include "core/term/snapshot.h"

#define LINE_HEAD 3 /* u8 flags, u16 length */

_Static_assert(LINE_HEAD + PACK_ROW_MAX <= SNAPSHOT_ROW_MAX, "a line fits in the smallest piece");

struct piece {
	uint64_t first;
	uint32_t count;
	uint32_t *starts; /* owned: where each line begins in `bytes` */
	uint8_t *bytes;   /* owned */
	size_t len;
};

struct transcript {
	struct piece *pieces; /* owned; [0] is the screen */
	size_t count, cap;
	size_t history_bytes;
	bool whole;
	/* Owned. Filled by reading, which does not change what the transcript holds. */
	struct clusters *clusters;
};

static void add_piece(struct transcript *t, const struct piece *p)
{
	if (t->count == t->cap) {
		t->cap = t->cap == 0 ? 8 : t->cap * 2;
		t->pieces = mem_resize(t->pieces, t->cap, sizeof(*t->pieces));
	}
	t->pieces[t->count++] = *p;
}

static size_t piece_memory(const struct piece *p)
{
	return p->len + p->count * sizeof(*p->starts);
}

static void put_line(struct buf *out, const struct cell *cells, size_t used, unsigned flags,
                     const struct clusters *clusters)
{
	buf_put_u8(out, (uint8_t)flags);
	buf_put_u16(out, 0);
	size_t at = out->len;
	pack_row(out, cells, used, clusters);
	size_t len = out->len - at;
	if (!buf_ok(out))
		return;
	out->data[at - 2] = (uint8_t)(len >> 8);
	out->data[at - 1] = (uint8_t)len;
}

struct transcript *transcript_create(const struct screen *s)
{
	struct transcript *t = mem_alloc(sizeof(*t));
	struct piece p = {.first = s->history_first + s->history, .count = s->rows};
	struct buf out = BUF_INIT(s->rows * SNAPSHOT_ROW_MAX);
	p.starts = mem_array(s->rows, sizeof(*p.starts));
	for (unsigned row = 0; row < s->rows; row++) {
		p.starts[row] = (uint32_t)out.len;
		put_line(&out, &s->cells[(size_t)row * s->cols], s->cols, s->flags[row], &s->clusters);
	}
	CHECK(buf_ok(&out));
	p.bytes = mem_resize(out.data, out.len, 1);
	p.len = out.len;
	add_piece(t, &p);
	t->clusters = mem_alloc(sizeof(*t->clusters));
	t->whole = s->history == 0 || (s->modes & TERM_ALT_SCREEN) != 0;
	return t;
}

void transcript_destroy(struct transcript *t)
{
	if (t == NULL)
		return;
	for (size_t i = 0; i < t->count; i++) {
		free(t->pieces[i].starts);
		free(t->pieces[i].bytes);
	}
	free(t->pieces);
	clusters_finish(t->clusters);
	free(t->clusters);
	free(t);
}

uint64_t transcript_first(const struct transcript *t)
{
	return t->pieces[t->count - 1].first;
}

uint64_t transcript_end(const struct transcript *t)
{
	return t->pieces[0].first + t->pieces[0].count;
}

bool transcript_is_whole(const struct transcript *t)
{
	return t->whole;
}

const struct clusters *transcript_clusters(const struct transcript *t)
{
	return t->clusters;
}

size_t transcript_memory(const struct transcript *t)
{
	size_t total = sizeof(*t) + t->cap * sizeof(*t->pieces) + clusters_memory(t->clusters);
	for (size_t i = 0; i < t->count; i++)
		total += piece_memory(&t->pieces[i]);
	return total;
}

/* Makes room before a line is unpacked. */
static void tidy_clusters(const struct transcript *t)
{
	if (clusters_are_crowded(t->clusters))
		clusters_clear(t->clusters);
}

/* Reads the head of each line and unpacks the rest for a look. */
static bool check_lines(const struct transcript *t, struct bytes lines, struct piece *p)
{
	struct cell cells[TERM_COLS_MAX];
	struct reader r;
	reader_init(&r, lines.p, lines.len);
	for (uint32_t i = 0; i < p->count; i++) {
		size_t used;
		p->starts[i] = (uint32_t)(lines.len - r.left);
		unsigned flags = reader_u8(&r);
		struct bytes packed = reader_take(&r, reader_u16(&r));
		tidy_clusters(t);
		if (r.bad || (flags & ~(unsigned)ROW_FLAG_ALL) != 0 ||
		    !unpack_row(packed, cells, TERM_COLS_MAX, t->clusters, &used))
			return false;
	}
	return reader_end(&r);
}

bool transcript_prepend(struct transcript *t, uint64_t first, uint32_t count, struct bytes lines,
                        struct err *e)
{
	uint64_t end = transcript_first(t);
	if (count == 0 && lines.len == 0) {
		t->whole = true;
		return true;
	}
	/* The shortest line has only a head. */
	if (t->whole || count > end || first != end - count || count > lines.len / LINE_HEAD)
		return err_set(e, ERR_PROTOCOL, "history: lines that do not belong here");
	struct piece p = {.first = first, .count = count, .len = lines.len};
	if (piece_memory(&p) > TRANSCRIPT_BYTES_MAX - t->history_bytes)
		return err_set(e, ERR_PROTOCOL, "history: more lines than a terminal keeps");
	p.starts = mem_array(count, sizeof(*p.starts));
	if (!check_lines(t, lines, &p)) {
		free(p.starts);
		return err_set(e, ERR_PROTOCOL, "history: bad lines");
	}
	p.bytes = mem_copy(lines.p, lines.len);
	t->history_bytes += piece_memory(&p);
	t->whole = first == 0;
	add_piece(t, &p);
	return true;
}

/* The piece with the line; NULL when it is not held. */
static const struct piece *find_piece(const struct transcript *t, uint64_t number)
{
	size_t low = 0, high = t->count; /* pieces low.. begin at or before it */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (t->pieces[middle].first > number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == t->count || number - t->pieces[low].first >= t->pieces[low].count)
		return NULL;
	return &t->pieces[low];
}

size_t transcript_line(const struct transcript *t, uint64_t number, struct cell *out, size_t most,
                       unsigned *flags)
{
	struct cell cells[TERM_COLS_MAX];
	size_t used;
	const struct piece *p = find_piece(t, number);
	if (flags != NULL)
		*flags = p != NULL ? p->bytes[p->starts[number - p->first]] : 0;
	if (p == NULL)
		return 0;
	size_t i = number - p->first, start = p->starts[i] + LINE_HEAD;
	size_t end = i + 1 < p->count ? p->starts[i + 1] : p->len;
	tidy_clusters(t);
	if (!unpack_row((struct bytes){p->bytes + start, end - start}, cells, TERM_COLS_MAX, t->clusters,
	                &used))
		BUG("a line that was checked does not unpack");
	used = MIN(used, most);
	if (used > 0 && cells[used - 1].width == CELL_WIDE)
		used--;
	memcpy(out, cells, used * sizeof(*out));
	return used;
}

/* On a screen that has become taller, lines that were history are rows again. */
static unsigned encode_row(const struct emulator *e, uint64_t row, struct buf *out)
{
	unsigned used, flags;
	if (row >= emulator_rows(e))
		return 0;
	const struct cell *cells = emulator_primary_row(e, (unsigned)row, &used, &flags);
	put_line(out, cells, used, flags, emulator_clusters(e));
	return 1;
}

unsigned transcript_encode(const struct emulator *e, uint64_t before, unsigned most, size_t max,
                           struct buf *out, uint64_t *first)
{
	const struct scrollback *history = emulator_history(e);
	uint64_t oldest = scrollback_first(history), end = oldest + scrollback_count(history);
	unsigned count = 0;
	if (before > end && most > 0) {
		count = encode_row(e, before - 1 - end, out);
	} else if (before > oldest) {
		unsigned held = (unsigned)(before - oldest), from = held - MIN(most, held);
		count = scrollback_copy(history, from, held - from, max, out);
	}
	*first = before - count;
	return count;
}
