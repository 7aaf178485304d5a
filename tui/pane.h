/* The open terminal behind the pane: one at a time, on a connection of its own, so that its cells never hold up an answer
 * to anything else. */
#ifndef CCVM_TUI_PANE_H
#define CCVM_TUI_PANE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/check.h"
#include "tui/dash.h"
#include "tui/model.h"

struct loop;
struct pane;

/* on_change comes from the loop whenever pane_describe would say something else. */
struct pane *pane_create(struct loop *loop, void (*on_change)(void *arg), void *arg) MUST_USE;
void pane_destroy(struct pane *p); /* accepts NULL; no callback afterwards */

/* Opens, resizes or leaves a terminal, so that the wanted one is there in the wanted size. One that ended or broke is not
 * opened again by itself. */
void pane_sync(struct pane *p, const struct dash_pane *want);
/* Lets go of the terminal, so that the next pane_sync opens one. */
void pane_reset(struct pane *p);
/* Fills all but `console`. What is borrowed is valid until the next turn of the loop. */
void pane_describe(struct pane *p, struct pane_source *out);

void pane_key(struct pane *p, uint32_t key, unsigned mods);
/* A piece of a paste. False, and nothing of it sent, when the whole is too long; told once, with the last piece. */
bool pane_paste(struct pane *p, struct bytes text, bool first, bool last);

#endif
