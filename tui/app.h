/* The dashboard: every VM at a glance, one of them under your hands, and what they were refused. */
#ifndef CCVM_TUI_APP_H
#define CCVM_TUI_APP_H

struct loop;

/* Runs until the operator quits (VMs run on) or a signal ends it, and gives the terminal back as it was. stdin and stdout must
 * be a terminal: the caller checks. Settings are read here; a mistake in them is told inside the dashboard. SIGHUP reads them
 * again.
 *
 * Returns the exit status of the program: 0 after quitting, 1 after an error (which it has printed to stderr), 128 + n
 * after signal n. */
int dashboard_run(struct loop *loop);

#endif
