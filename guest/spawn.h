/* Starting a program: fork, a terminal or three pipes, exec. A program that cannot be executed says so on its
 * own standard error and ends with 127 (not found) or 126, like in a shell. */
#ifndef CCVM_GUEST_SPAWN_H
#define CCVM_GUEST_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "core/base/err.h"

/* All borrowed. */
struct spawn_spec {
	bool tty;
	uint16_t rows, cols;        /* of the terminal, set before anything runs in it */
	const char *cwd;            /* "" for HOME */
	char *const *argv;          /* empty: root's login shell */
	char *const *env;           /* the whole of it */
	const struct rlimit *files; /* RLIMIT_NOFILE of the program, or NULL */
};

/* Non-blocking, close-on-exec, the caller's. With a terminal `in` and `out` are two descriptors of its master
 * and `err` is -1. */
struct spawned {
	pid_t pid; /* also its session and process group */
	int in, out, err;
};

bool spawn_start(const struct spawn_spec *spec, struct spawned *out, struct err *e) MUST_USE;

#endif
