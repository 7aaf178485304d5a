/* A descriptor and the wish to hear when it is ready. The watch owns the descriptor. */
#ifndef CCVM_VSOCK_WATCH_H
#define CCVM_VSOCK_WATCH_H

struct loop;
struct watch;

enum watch_events { WATCH_NONE = 0, WATCH_READ = 1, WATCH_WRITE = 2, WATCH_BOTH = 3 };

/* Takes `fd`; NULL (and `fd` is closed) when it is of a kind that cannot be polled. `fn(arg, events)` comes from the loop; an error on the
 * descriptor arrives as WATCH_BOTH and switches the watch off until the next watch_set, so the reader or writer
 * meets the error itself and nobody spins. Starts with WATCH_NONE, which also hides hang-ups. */
struct watch *watch_open(struct loop *loop, int fd, void (*fn)(void *arg, int events), void *arg);
void watch_set(struct watch *w, int events);
int watch_fd(const struct watch *w); /* borrowed */
/* Accepts NULL. Closes the descriptor at once; `fn` is not called afterwards. */
void watch_close(struct watch *w);

#endif
