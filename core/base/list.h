/* An intrusive doubly linked list (musl has no sys/queue.h). A head points at itself when empty. */
#ifndef CCVM_BASE_LIST_H
#define CCVM_BASE_LIST_H

#include <stdbool.h>

#include "core/base/check.h"

struct list {
	struct list *prev, *next;
};

static inline void list_init(struct list *head)
{
	head->prev = head->next = head;
}

static inline bool list_is_empty(const struct list *head)
{
	return head->next == head;
}

static inline void list_append(struct list *head, struct list *item)
{
	item->prev = head->prev;
	item->next = head;
	head->prev->next = item;
	head->prev = item;
}

/* The item is a list of its own afterwards, so removing twice is harmless. */
static inline void list_remove(struct list *item)
{
	item->prev->next = item->next;
	item->next->prev = item->prev;
	list_init(item);
}

#define LIST_ENTRY(item, type, member) CONTAINER_OF(item, type, member)
/* `item` may be removed in the body, others may not. */
#define LIST_FOREACH(item, head)                                                          \
	for (struct list *item = (head)->next, *item##_next = item->next; item != (head); \
	     item = item##_next, item##_next = item->next)

#endif
