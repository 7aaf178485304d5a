/* QMP, the machine-readable monitor of QEMU: one JSON object a line. QEMU may be in a guest's hands, so what it says
 * is treated as hostile: lines, nesting and texts are limited, and the first line that makes no sense ends the
 * conversation.
 *
 *     greeting ──► capabilities sent ──► ready ──► broken (once) */
#ifndef CCVM_BACKEND_QMP_H
#define CCVM_BACKEND_QMP_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"

struct loop;
struct qmp;

#define QMP_LINE_MOST  (64 * 1024)
#define QMP_DEPTH_MOST 16

enum qmp_kind { QMP_GREETING, QMP_RETURN, QMP_ERROR, QMP_EVENT };

struct qmp_message {
	enum qmp_kind kind;
	char event[48];   /* of QMP_EVENT: "SHUTDOWN"; only A-Z, 0-9 and _ */
	char reason[48];  /* data.reason of an event: "guest-reset"; escaped, "" when there is none */
	char detail[200]; /* error.desc of QMP_ERROR, the version of QMP_GREETING; escaped */
};

/* Pure. One line without its newline. */
bool qmp_parse(const char *line, size_t len, struct qmp_message *out, struct err *e) MUST_USE;

struct qmp_ops {
	void (*on_event)(void *arg, const struct qmp_message *m);
	void (*on_done)(void *arg); /* a command has been done, or was refused; may be NULL */
	/* ERR_GONE when QEMU closed it (it is about to exit), ERR_PROTOCOL when it talks nonsense. Nothing follows. */
	void (*on_broken)(void *arg, const struct err *e);
};

/* Takes the connected socket even on failure. Callbacks come from the loop. */
struct qmp *qmp_open(struct loop *loop, int fd, const struct qmp_ops *ops, void *arg, struct err *e) MUST_USE;
/* A command without arguments ("system_powerdown"), borrowed for ever (a literal). Before the monitor is ready it waits;
 * at most 8 wait, more are dropped. A refusal by QEMU is logged. */
void qmp_send(struct qmp *q, const char *command);
void qmp_close(struct qmp *q); /* accepts NULL */

#endif
