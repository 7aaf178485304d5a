/* One terminal of a VM on the whole screen: what attach and exec -t do. */
#ifndef CCVM_CLI_VIEWER_H
#define CCVM_CLI_VIEWER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/client/terminal.h"

struct cli;

struct viewer_spec { /* all borrowed */
	const char *vm;
	uint32_t term;           /* as of client_term_spec */
	const char *const *argv; /* or NULL */
	const char *const *env;  /* or NULL */
	const char *cwd;         /* or NULL */
	char detach_key;         /* control byte */
	bool keep_last_screen;   /* print what it showed at last when it has ended */
};

/* Returns the exit status: of the program when it ended, 0 after detaching, 128 + n after signal n, 1 after an error that
 * was printed. Standard input and output must be a terminal. */
int viewer_run(struct cli *cli, const struct viewer_spec *spec);

#endif
