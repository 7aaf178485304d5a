/* The operator's terminal while a program of a VM has all of it: raw mode, alternate screen, and whatever happens, back as
 * it was found. Standard input and output must be that terminal. */
#ifndef CCVM_CLI_RAWTTY_H
#define CCVM_CLI_RAWTTY_H

#include "core/base/err.h"

struct loop;
struct rawtty;

/* Takes the terminal. One at a time per process. */
struct rawtty *rawtty_open(struct loop *loop, struct err *e) MUST_USE;
/* Gives it back; what was typed and not read is thrown away. Accepts NULL. */
void rawtty_close(struct rawtty *t);

/* Gives it back, stops this process as the shell's job control expects, and takes it again when continued. */
void rawtty_suspend(struct rawtty *t);
/* Never 0: 24 x 80 when the terminal does not know. */
void rawtty_size(unsigned *rows, unsigned *cols);

#endif
