/* What the VMs were let through to and what they were refused, all of them together, newest last: the last records of
 * each audit log first, then live. Equal refusals are also kept as one, with a count that does not forget.
 *
 * Bounded: where there is no room, the VM that has the most entries loses its oldest one. So a VM that floods its log
 * pushes out its own entries and not those of others.
 *
 * Texts of an entry are escaped already (printable ASCII) and may be shown as they are. */
#ifndef CCVM_CLIENT_FEED_H
#define CCVM_CLIENT_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/parse.h" /* VM_NAME_MAX */

struct loop;
struct feed;
struct fleet;

enum feed_event {
	FEED_OPEN,  /* let through */
	FEED_DENY,  /* refused by policy or malformed */
	FEED_FAIL,  /* allowed, but the host could not be reached */
	FEED_CLOSE, /* a tunnel ended */
	FEED_OTHER, /* start, stop, rotate... */
	FEED_EVENT_COUNT
};
const char *feed_event_name(enum feed_event ev); /* "open", "deny" ... */

struct feed_entry {
	char vm[VM_NAME_MAX + 1];
	int64_t time_ms; /* wall clock */
	enum feed_event event;
	char target[320];  /* "host:port", or the raw request target when it could not be read */
	char why[240];     /* "no rule allows it", ... */
	char rule[352];    /* canonical text of the rule that decided; "" when there was none */
	uint64_t up, down; /* bytes, of FEED_CLOSE */
	uint64_t ms;       /* how long the tunnel was open, of FEED_CLOSE */
	uint64_t serial;   /* grows by one per entry of this feed; the newest arrival has the highest */
};

/* Refusals with the same VM, target and reason. */
struct feed_denial {
	struct feed_entry newest; /* a copy: it stays when the entry itself is gone */
	uint64_t id;              /* the same as long as it is kept, and never used again */
	uint64_t count;           /* of all that were read; never gets less */
	int64_t first_ms;         /* wall clock of the first one */
};

/* All of it at once, as plain data: borrowed, valid until the next turn of the loop or the next feed_* call that changes
 * something. A test makes one by hand. */
struct feed_list {
	const struct feed_entry *const *entries; /* by time, newest last */
	size_t entry_count;
	const struct feed_denial *const *denials; /* by the time of the newest, newest last */
	size_t denial_count;
	uint64_t generation; /* another one when anything changed; 0: not known, look anew */
};

/* `keep`: at most this many entries in all, and this many different refusals; `per_vm`: how many old records of each VM are
 * read at first. on_change comes from the loop, once for many entries. */
struct feed *feed_open(struct loop *loop, size_t keep, size_t per_vm, void (*on_change)(void *arg),
                       void *arg) MUST_USE;
void feed_close(struct feed *f); /* accepts NULL; no callback afterwards */

void feed_look(struct feed *f, struct feed_list *out);

/* Follows exactly the VMs that `fleet` shows now; others are forgotten, with their entries. Call it when the fleet
 * changes; cheap when nothing did. */
void feed_sync(struct feed *f, const struct fleet *fleet);
/* Follows one more VM, without a fleet. One that was removed and made again under this name begins anew. */
void feed_add(struct feed *f, const char *vm);

#endif
