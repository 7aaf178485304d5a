/* Signals as loop events. */
#ifndef CCVM_LOOP_SIGNALS_H
#define CCVM_LOOP_SIGNALS_H

struct loop;
struct signals;

/* `fn(arg, signum)` from the loop for each of the zero-terminated list (at most 8). */
struct signals *signals_open(struct loop *loop, const int *signums, void (*fn)(void *arg, int signum),
                             void *arg);
void signals_close(struct signals *s); /* accepts NULL; default actions are back afterwards */

#endif
