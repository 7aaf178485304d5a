/* A restartable timer that its owner closes. */
#ifndef CCVM_LOOP_TIMER_H
#define CCVM_LOOP_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct timer;

struct timer *timer_create_on(struct loop *loop, void (*fn)(void *arg), void *arg);
void timer_once(struct timer *t, uint64_t ms);  /* (re)starts: fires once after ms */
void timer_every(struct timer *t, uint64_t ms); /* first after ms, then again and again */
void timer_stop(struct timer *t);
bool timer_is_active(const struct timer *t);
void timer_close(struct timer *t); /* accepts NULL; never fires afterwards */

#endif
