/* Blocks of BLOCK_SIZE bytes in a list, oldest first. A line lies in one block: u16 length, then its packed bytes; so 10,000
 * log lines cost about as much as their text. Pushing copies into the newest block, dropping the oldest line only moves
 * a mark in the oldest block, and an emptied block is used again at the other end: a flood allocates nothing. */
#include "core/term/scrollback.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/list.h"
#include "core/base/mem.h"
#include "core/term/pack.h"

#define BLOCK_SIZE 32768

struct block {
	struct list link;
	size_t start, end, size; /* lines lie in start..end of data[size] */
	unsigned lines;
	uint8_t data[];
};

struct scrollback {
	struct list blocks;
	struct block *spare; /* owned, or NULL */
	struct buf scratch;  /* one packed line */
	unsigned lines, most;
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
	return (size_t)b->data[at] << 8 | b->data[at + 1];
}

static void drop_oldest_line(struct scrollback *s)
{
	struct block *b = oldest_block(s);
	b->start += 2 + length_at(b, b->start);
	b->lines--;
	s->lines--;
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

void scrollback_push(struct scrollback *s, const struct cell *cells, size_t used,
                     const struct clusters *clusters)
{
	if (s->most == 0)
		return;
	if (s->lines >= s->most)
		drop_oldest_line(s);
	buf_clear(&s->scratch);
	pack_row(&s->scratch, cells, used, clusters);
	size_t len = s->scratch.len;
	struct block *b = newest_block(s);
	if (b == NULL || b->size - b->end < len + 2)
		b = add_block(s, len + 2);
	b->data[b->end] = (uint8_t)(len >> 8);
	b->data[b->end + 1] = (uint8_t)len;
	if (len > 0)
		memcpy(&b->data[b->end + 2], s->scratch.data, len);
	b->end += 2 + len;
	b->lines++;
	s->lines++;
}

/* Unpacks the line at `at`. Lines were packed by us, but maybe for a wider screen. */
static size_t read_line(const struct block *b, size_t at, struct cell *out, size_t most,
                        struct clusters *clusters)
{
	struct cell wide[TERM_COLS_MAX];
	size_t used = 0;
	struct bytes packed = {&b->data[at + 2], length_at(b, at)};
	if (!unpack_row(packed, wide, TERM_COLS_MAX, clusters, &used))
		BUG("a line of the scrollback does not unpack");
	used = MIN(used, most);
	if (used > 0 && wide[used - 1].width == CELL_WIDE)
		used--;
	memcpy(out, wide, used * sizeof(*out));
	return used;
}

size_t scrollback_pop(struct scrollback *s, struct cell *out, size_t most, struct clusters *clusters,
                      bool *found)
{
	struct block *b = newest_block(s);
	*found = b != NULL;
	if (b == NULL)
		return 0;
	size_t at = b->start;
	for (unsigned i = 1; i < b->lines; i++)
		at += 2 + length_at(b, at);
	size_t used = read_line(b, at, out, most, clusters);
	b->end = at;
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

size_t scrollback_line(const struct scrollback *s, unsigned index, struct cell *out, size_t most,
                       struct clusters *clusters)
{
	LIST_FOREACH (item, &s->blocks) {
		const struct block *b = LIST_ENTRY(item, struct block, link);
		if (index >= b->lines) {
			index -= b->lines;
			continue;
		}
		size_t at = b->start;
		while (index-- > 0)
			at += 2 + length_at(b, at);
		return read_line(b, at, out, most, clusters);
	}
	return 0;
}

size_t scrollback_memory(const struct scrollback *s)
{
	return sizeof(*s) + s->bytes + s->scratch.cap;
}
