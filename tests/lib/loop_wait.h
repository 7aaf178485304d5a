/* Runs an event loop until a condition holds: what tests do instead of sleeping. */
#ifndef CCVM_TESTS_LIB_LOOP_WAIT_H
#define CCVM_TESTS_LIB_LOOP_WAIT_H

#include <stdbool.h>

struct loop;

#define LOOP_WAIT_MS 20000 /* far beyond what any condition needs; only a failure takes so long */

/* False when it did not hold in time. */
bool loop_wait(struct loop *loop, bool (*holds)(void *arg), void *arg);
/* The same for a plain flag. */
bool loop_wait_flag(struct loop *loop, const bool *flag);
/* Lets the loop do what it can do at once. */
void loop_settle(struct loop *loop);

#endif
