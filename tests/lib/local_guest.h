/* Stands in for a VM's vsock socket and the agent behind it, with programs of this machine: a terminal in "the VM" runs a real
 * shell here. For tests of everything above the supervisor's sessions. (guest_double.h is the one that misbehaves.)
 *
 * A program without a terminal is not run: its name is printed on both outputs and it ends with 4. The last bytes of a program
 * that writes much and ends at once may get lost (stream.h on pty masters). */
#ifndef CCVM_TESTS_LIB_LOCAL_GUEST_H
#define CCVM_TESTS_LIB_LOCAL_GUEST_H

#include <stddef.h>

struct local_guest;

/* A process of its own, as a guest is: it works while we do. Listens on `path` when this returns; `shell` (NULL-terminated) is what
 * a spawn without arguments runs. It ends with us, and its programs with it. */
struct local_guest *local_guest_start(const char *path, char *const *shell);
void local_guest_end(struct local_guest *g);
/* As if the program of the oldest terminal wrote this. */
void local_guest_write(struct local_guest *g, const void *bytes, size_t len);

#endif
