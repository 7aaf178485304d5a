/* The status of the VM and those who watch it. A change is told at once, further ones at most forty times a second, so
 * that a guest which causes many (refused requests) costs its watchers little. Nothing happens while nothing changes. */
#ifndef CCVM_SUPERVISOR_BOARD_H
#define CCVM_SUPERVISOR_BOARD_H

#include "core/base/list.h"
#include "core/vm/vm.h"

struct loop;
struct board;

struct board_watch {
	struct list link;
	void (*on_change)(void *arg); /* may end any watch and change the board */
	void *arg;
};

struct board *board_create(struct loop *loop, const struct vm_status *initial);
void board_destroy(struct board *b); /* accepts NULL; every watch has been ended */

const struct vm_status *board_status(const struct board *b);
/* For changing it: call board_changed afterwards (the generation grows there). */
struct vm_status *board_edit(struct board *b);
void board_changed(struct board *b);
/* The entry of a terminal in the status, for changing it; NULL: there is no such terminal. */
struct vm_terminal *board_terminal(struct board *b, uint32_t number);
/* Tells the watchers now, in this call. */
void board_flush(struct board *b);

/* The watch is the caller's memory, kept until board_unwatch. */
void board_watch(struct board *b, struct board_watch *w, void (*on_change)(void *arg), void *arg);
void board_unwatch(
    struct board_watch *w); /* harmless when it does not watch, but was zeroed or used before */

#endif
