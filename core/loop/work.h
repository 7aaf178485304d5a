/* One blocking job in libuv's thread pool. */
#ifndef CCVM_LOOP_WORK_H
#define CCVM_LOOP_WORK_H

struct loop;

/* `run` in a thread: it touches nothing but what `arg` leads to. Then `done` from the loop, always, exactly once; until
 * then `arg` must stay. There is no way to stop it. */
void work_start(struct loop *loop, void (*run)(void *arg), void (*done)(void *arg), void *arg);

#endif
