/* What the cells of one grid or screen point to: clusters (base and combining marks) and hyperlinks. Bounded; the owner of the
 * cells sweeps it when it is full by copying what is still used into a fresh table. */
#ifndef CCVM_TERM_CLUSTERS_H
#define CCVM_TERM_CLUSTERS_H

#include <stddef.h>
#include <stdint.h>

#include "core/term/cells.h"
#include "core/term/links.h"

#define CLUSTER_MAX   5    /* base and four marks; ncurses holds no more */
#define CLUSTERS_MOST 4096 /* different clusters in one table */

/* A bounded set of clusters. Interning the same sequence twice gives the same index. */
struct cluster {
	uint32_t chars[CLUSTER_MAX]; /* 0 after the last */
};
struct clusters {
	struct cluster *items; /* owned */
	uint32_t *slots;       /* owned: hash table of index + 1 */
	uint32_t count, slot_count;
	struct links links;
};

void clusters_finish(struct clusters *t);
void clusters_clear(struct clusters *t);
size_t clusters_memory(const struct clusters *t);
/* More than half full of one thing or the other: time to sweep, where that costs little. */
bool clusters_are_crowded(const struct clusters *t);
/* The code for a cell: chars[0] itself for n == 1, else CELL_CLUSTER | index; 0 when the table is full. */
uint32_t clusters_intern(struct clusters *t, const uint32_t *chars, size_t n);
/* The code points of a cell's code; returns how many (0 for a blank cell). A bad index gives U+FFFD. */
size_t clusters_get(const struct clusters *t, uint32_t code, uint32_t out[CLUSTER_MAX]);
/* The URI of a cell's link (printable ASCII); NULL for 0. Cells with the same number are parts of one link. */
const char *clusters_link(const struct clusters *t, unsigned link);
/* Copies a cell from a grid with table `from` into one with table `to`. When `to` is full the marks or the link are lost. */
struct cell clusters_copy_cell(struct clusters *to, const struct clusters *from, const struct cell *c);
/* UTF-8 of a cell (a blank one gives a space, a tail nothing); returns the length, no NUL. */
#define CELL_UTF8_MAX ((size_t)CLUSTER_MAX * 4)
size_t clusters_cell_utf8(const struct clusters *t, const struct cell *c, char out[CELL_UTF8_MAX]);

#endif
