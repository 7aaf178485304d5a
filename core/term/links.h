/* Hyperlinks (OSC 8) of one grid or screen: a bounded table beside its clusters (clusters.h holds it). A link is a URI and what
 * the program calls it, so that one that was drawn in several places stays one. Nothing but printable ASCII of a few
 * harmless schemes gets in. */
#ifndef CCVM_TERM_LINKS_H
#define CCVM_TERM_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINK_URI_MAX    2048
#define LINKS_MOST      4096 /* different links in one table; their numbers fit in cell.link */
#define LINKS_BYTES_MAX (512 * 1024)

struct link {
	char *uri; /* owned */
	uint32_t len, hash;
	uint32_t id; /* made of the program's own; 0: it gave none */
};
struct links {
	struct link *items; /* owned */
	uint32_t *slots;    /* owned: hash table of numbers, 0: free */
	uint32_t count, slot_count;
	size_t bytes; /* of all URIs */
};

void links_finish(struct links *t);
void links_clear(struct links *t);
/* http, https, file or mailto; at most LINK_URI_MAX bytes, none of them a blank. */
bool link_is_valid(const char *uri, size_t len);
/* The id for a program's text; never 0. */
uint32_t link_id(const char *text, size_t len);
/* The number of a valid link, 1 or more; 0 when the table is full. The same link has the same number. */
unsigned links_intern(struct links *t, uint32_t id, const char *uri, size_t len);
/* The number in `to` of link number `link` of `from`. */
unsigned links_copy(struct links *to, const struct links *from, unsigned link);
/* NULL for 0 and for what is not in the table. */
const struct link *links_get(const struct links *t, unsigned link);
size_t links_memory(const struct links *t);

#endif
