/* A terminal of a VM that is looked at without touching it: in the size it has, and none is started. What screen, wait and
 * record are made of. */
#ifndef CCVM_CLI_LOOK_H
#define CCVM_CLI_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/cli/target.h"
#include "core/vm/vm.h"

struct client;
struct client_term;
struct loop;
struct screen;
struct transcript;

enum look_end {
	LOOK_DONE,    /* look_done was called */
	LOOK_ENDED,   /* the terminal's program ended: code, signum */
	LOOK_TIMEOUT, /* timeout_ms are over */
	LOOK_FAILED   /* no such terminal, the VM went away...: e */
};

struct look {
	/* The caller's: */
	const struct target *target;
	bool wants_terminal;                                          /* false: only the status is watched */
	uint64_t timeout_ms;                                          /* 0: none */
	void (*on_status)(struct look *l, const struct vm_status *s); /* may be NULL */
	void (*on_screen)(struct look *l, struct screen *s);          /* whole ones only; may be NULL */
	void *arg;

	/* To read: */
	struct client_term *term;    /* NULL until it is known which one */
	struct vm_terminal terminal; /* what the status last said of it */
	uint32_t code;               /* of LOOK_ENDED; counts when signum is 0 */
	unsigned signum;

	/* look.c's: */
	struct transcript *lines;
	uint64_t down_to;
	void (*on_back)(struct look *l);
	struct loop *loop;
	struct client *client;
	bool over;
	enum look_end end;
	struct err *e;
};

/* Runs the loop until it ends; the callbacks come from there. */
enum look_end look_run(struct loop *loop, struct look *l, struct err *e) MUST_USE;
/* To be called from a callback: enough. */
void look_done(struct look *l);
/* The same with an error: LOOK_FAILED. */
void look_fail(struct look *l, const struct err *e);
/* Asks for older lines and puts them into `t` (keeps) until it has that number or nothing older exists; then `done`, from the loop or
 * from this call. One at a time. What the terminal does meanwhile disturbs nothing: lines have numbers. */
void look_back(struct look *l, struct transcript *t, uint64_t down_to, void (*done)(struct look *l));
/* The last screen stays readable until then. Harmless when it never ran. */
void look_close(struct look *l);

#endif
