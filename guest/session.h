/* The processes of a session, as /proc shows them. */
#ifndef CCVM_GUEST_SESSION_H
#define CCVM_GUEST_SESSION_H

#include <stddef.h>
#include <sys/types.h>

/* Sends `signum` (0: only counts) to every process of the session that still runs; returns how many there
 * were. Zombies do not count. */
size_t session_signal(pid_t session, int signum);

#endif
