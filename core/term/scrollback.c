/* Blocks of BLOCK_SIZE bytes in a list, oldest first. A line lies in one block: u8 flags, u16 length, then its packed bytes; so
 * 10,000 log lines cost about as much as their text. Pushing copies into the newest block, dropping the oldest line only moves
 * a mark in the oldest block, and an emptied block is used again at the other end: a flood allocates nothing. */
#include "core/term/scrollback.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/list.h"
#include "core/base/mem.h"
#include "core/term/pack.h"

#define BLOCK_SIZE 32768
#define LINE_HEAD  3 /* flags and length */

struct block {
	struct list link;
	size_t start, end, size; /* lines lie in start..end of data[size] */
	size_t newest;           /* where the last one begins */
	unsigned lines;
	uint8_t data[];
};

struct scrollback {
	struct list blocks;
	struct block *spare; /* owned, or NULL */
	struct buf scratch;  /* one packed line */
	unsigned lines, most;
	uint64_t first; /* number of the oldest line */
	size_t bytes;
};

struct scrollback *scrollback_create(unsigned most_lines)
{
	struct scrollback *s = mem_alloc(sizeof(*s));
	list_init(&s->blocks);
	buf_init(&s->scratch, PACK_ROW_MAX);
	s->most = most_lines;
	return s;
}

static void drop_block(struct scrollback *s, struct block *b)
{
	list_remove(&b->link);
	s->lines -= b->lines;
	s->first += b->lines;
	if (s->spare == NULL && b->size == BLOCK_SIZE) {
		s->spare = b;
		return;
	}
	s->bytes -= b->size;
	free(b);
}

void scrollback_clear(struct scrollback *s)
{
	LIST_FOREACH (item, &s->blocks)
		drop_block(s, LIST_ENTRY(item, struct block, link));
	if (s->spare != NULL) {
		s->bytes -= s->spare->size;
		free(s->spare);
		s->spare = NULL;
	}
}

void scrollback_destroy(struct scrollback *s)
{
	if (s == NULL)
		return;
	scrollback_clear(s);
	buf_finish(&s->scratch);
	free(s);
}

static struct block *oldest_block(const struct scrollback *s)
{
	return list_is_empty(&s->blocks) ? NULL : LIST_ENTRY(s->blocks.next, struct block, link);
}

static struct block *newest_block(const struct scrollback *s)
{
	return list_is_empty(&s->blocks) ? NULL : LIST_ENTRY(s->blocks.prev, struct block, link);
}

static size_t length_at(const struct block *b, size_t at)
{
	return (size_t)b->data[at + 1] << 8 | b->data[at + 2];
}

static size_t after(const struct block *b, size_t at)
{
	return at + LINE_HEAD + length_at(b, at);
}

static void drop_oldest_line(struct scrollback *s)
{
	struct block *b = oldest_block(s);
	b->start = after(b, b->start);
	b->lines--;
	s->lines--;
	s->first++;
	if (b->lines == 0)
		drop_block(s, b);
}

void scrollback_set_limit(struct scrollback *s, unsigned most_lines)
{
	s->most = most_lines;
	while (s->lines > s->most)
		drop_oldest_line(s);
}

static struct block *add_block(struct scrollback *s, size_t need)
{
	size_t size = MAX((size_t)BLOCK_SIZE, need);
	while ((s->spare == NULL || need > BLOCK_SIZE) && s->bytes + size > SCROLLBACK_BYTES_MAX &&
	       !list_is_empty(&s->blocks))
		drop_block(s, oldest_block(s)); /* which may become the spare one */
	struct block *b = s->spare;
	if (b != NULL && b->size >= need) {
		s->spare = NULL;
		b->start = b->end = 0;
		b->lines = 0;
	} else {
		b = mem_alloc(sizeof(*b) + size);
		b->size = size;
		s->bytes += size;
	}
	list_append(&s->blocks, &b->link);
	return b;
}

void scrollback_push(struct scrollback *s, const struct pack_line *line, unsigned flags,
                     const struct clusters *clusters)
{
	if (s->most == 0) {
		s->first++;
		return;
	}
	if (s->lines >= s->most)
		drop_oldest_line(s);
	buf_clear(&s->scratch);
	pack_line(&s->scratch, line, clusters);
	size_t len = s->scratch.len;
	struct block *b = newest_block(s);
	if (b == NULL || b->size - b->end < len + LINE_HEAD)
		b = add_block(s, len + LINE_HEAD);
	uint8_t *at = &b->data[b->end];
	at[0] = (uint8_t)flags;
	at[1] = (uint8_t)(len >> 8);
	at[2] = (uint8_t)len;
	if (len > 0)
		memcpy(at + LINE_HEAD, s->scratch.data, len);
	b->newest = b->end;
	b->end += LINE_HEAD + len;
	b->lines++;
	s->lines++;
}

void scrollback_set_wrapped(struct scrollback *s, bool on)
{
	struct block *b = newest_block(s);
	if (b == NULL)
		return;
	uint8_t *flags = &b->data[b->newest];
	*flags = (uint8_t)(on ? *flags | ROW_WRAPPED : *flags & ~ROW_WRAPPED);
}

/* Unpacks the line at `at`. Lines were packed by us, but maybe for a wider screen. */
static size_t read_line(const struct block *b, size_t at, struct cell *out, size_t most,
                        struct clusters *clusters, unsigned *flags)
{
	struct cell wide[TERM_COLS_MAX];
	size_t used = 0;
	struct bytes packed = {&b->data[at + LINE_HEAD], length_at(b, at)};
	*flags = b->data[at];
	if (!unpack_row(packed, wide, TERM_COLS_MAX, clusters, &used))
		BUG("a line of the scrollback does not unpack");
	used = MIN(used, most);
	if (used > 0 && wide[used - 1].width == CELL_WIDE)
		used--;
	memcpy(out, wide, used * sizeof(*out));
	return used;
}

size_t scrollback_pop(struct scrollback *s, struct cell *out, size_t most, struct clusters *clusters,
                      unsigned *flags, bool *found)
{
	struct block *b = newest_block(s);
	*found = b != NULL;
	*flags = 0;
	if (b == NULL)
		return 0;
	size_t used = read_line(b, b->newest, out, most, clusters, flags);
	b->end = b->newest;
	b->newest = b->start;
	for (unsigned i = 2; i < b->lines; i++)
		b->newest = after(b, b->newest);
	b->lines--;
	s->lines--;
	if (b->lines == 0)
		drop_block(s, b);
	return used;
}

unsigned scrollback_count(const struct scrollback *s)
{
	return s->lines;
}

uint64_t scrollback_first(const struct scrollback *s)
{
	return s->first;
}

/* The block with line *index, and where the line begins in it; *index becomes the line's place in the block. */
static const struct block *find_line(const struct scrollback *s, unsigned *index, size_t *at)
{
	LIST_FOREACH (item, &s->blocks) {
		const struct block *b = LIST_ENTRY(item, struct block, link);
		if (*index >= b->lines) {
			*index -= b->lines;
			continue;
		}
		*at = b->start;
		for (unsigned i = 0; i < *index; i++)
			*at = after(b, *at);
		return b;
	}
	return NULL;
}

size_t scrollback_line(const struct scrollback *s, unsigned index, struct cell *out, size_t most,
                       struct clusters *clusters, unsigned *flags)
{
	size_t at;
	const struct block *b = find_line(s, &index, &at);
	*flags = 0;
	return b != NULL ? read_line(b, at, out, most, clusters, flags) : 0;
}

/* A line and where the next one is. */
struct walk {
	const struct block *b;
	size_t at;
	unsigned left; /* lines of the block from here on */
};

static bool walk_start(const struct scrollback *s, struct walk *w, unsigned from)
{
	w->b = find_line(s, &from, &w->at);
	w->left = w->b != NULL ? w->b->lines - from : 0;
	return w->b != NULL;
}

static void walk_on(struct walk *w)
{
	w->at = after(w->b, w->at);
	if (--w->left > 0)
		return;
	w->b = LIST_ENTRY(w->b->link.next, struct block, link); /* whoever walks knows where the end is */
	w->at = w->b->start;
	w->left = w->b->lines;
}

unsigned scrollback_copy(const struct scrollback *s, unsigned from, unsigned count, size_t max,
                         struct buf *out)
{
	struct walk w, start;
	size_t total = 0;
	if (from >= s->lines || count == 0 || !walk_start(s, &start, from))
		return 0;
	count = MIN(count, s->lines - from);
	w = start;
	for (unsigned i = 0; i < count; i++) {
		total += after(w.b, w.at) - w.at;
		if (i + 1 < count)
			walk_on(&w);
	}
	for (w = start; total > max; walk_on(&w)) {
		total -= after(w.b, w.at) - w.at;
		if (--count == 0)
			return 0;
	}
	for (unsigned i = 0; i < count; i++) {
		buf_put(out, &w.b->data[w.at], after(w.b, w.at) - w.at);
		if (i + 1 < count)
			walk_on(&w);
	}
	return count;
}

size_t scrollback_memory(const struct scrollback *s)
{
	return sizeof(*s) + s->bytes + s->scratch.cap;
}
