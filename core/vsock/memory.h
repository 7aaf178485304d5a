/* The guest's memory as QEMU shares it: a table of at most MEMORY_MOST_REGIONS pieces, each mapped here.
 *
 * Two address spaces lead into it: guest-physical addresses (gpa) in descriptors and QEMU's own addresses (uva) in
 * ring set-up messages. Nothing else turns such a number into a pointer, and no sum here can wrap. */
#ifndef CCVM_VSOCK_MEMORY_H
#define CCVM_VSOCK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

#define MEMORY_MOST_REGIONS 8

struct memory_region {
	uint64_t gpa;
	uint64_t uva;
	uint64_t size;
	uint64_t offset; /* of the region in its file */
};

struct memory_piece {
	struct memory_region at;
	uint8_t *host;  /* where the region starts here */
	size_t map_len; /* 0: memory of somebody else, not unmapped */
};

struct memory {
	struct memory_piece pieces[MEMORY_MOST_REGIONS];
	size_t count;
};

void memory_init(struct memory *m);
void memory_finish(struct memory *m); /* unmaps; pointers into it are dead */

/* Maps a region of `fd` (borrowed). Refuses empty, wrapping, misaligned and overlapping regions, and a file that is
 * shorter than the region (touching what lies behind its end would kill us). */
bool memory_map(struct memory *m, const struct memory_region *r, int fd, struct err *e) MUST_USE;
/* The same over memory that is here already and stays the caller's. */
bool memory_add(struct memory *m, const struct memory_region *r, void *host, struct err *e) MUST_USE;

/* `len` bytes wholly inside one region, or NULL. */
void *memory_at_uva(const struct memory *m, uint64_t uva, uint64_t len);
void *memory_at_gpa(const struct memory *m, uint64_t gpa, uint64_t len);
/* As many of the `len` bytes at gpa as lie in one region, at least 1 (then *got is set), or NULL. */
void *memory_span(const struct memory *m, uint64_t gpa, uint64_t len, uint64_t *got);

#endif
