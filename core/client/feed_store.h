/* What the feed keeps: the newest entries of several logs, and equal refusals as one. Pure; bounded in number. */
#ifndef CCVM_CLIENT_FEED_STORE_H
#define CCVM_CLIENT_FEED_STORE_H

#include <stddef.h>

#include "core/base/list.h"
#include "core/client/feed.h"

struct feed_store;

/* Whose entries they are. The memory is the caller's; not to be moved between join and leave. */
struct feed_owner {
	struct list link;
	struct list entries, denials; /* oldest first */
	size_t entry_count, denial_count;
};

/* At most `keep` (1 or more) entries and as many different refusals, of all owners. */
struct feed_store *feed_store_create(size_t keep) MUST_USE;
void feed_store_destroy(struct feed_store *s); /* accepts NULL; all owners have left */

void feed_store_join(struct feed_store *s, struct feed_owner *o);
void feed_store_leave(struct feed_store *s, struct feed_owner *o); /* with all that is its own */

/* Copies it and gives it a serial number. Where the store is full, the owner with the most loses its oldest. The time is
 * constant for a log that grows in the order of its times. */
void feed_store_add(struct feed_store *s, struct feed_owner *o, const struct feed_entry *e);

/* Borrowed until the next call that changes something. */
void feed_store_look(struct feed_store *s, struct feed_list *out);

#endif
