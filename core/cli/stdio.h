/* Standard input and output as loop objects, whatever they are: pipe, terminal, socket, file, /dev/null.
 *
 * They belong to others as well (the shell, a pipeline), so their flags are never touched: no O_NONBLOCK. Instead a
 * descriptor is read or written only when poll says that it is ready, in pieces that cannot block then. What epoll does
 * not take (files) is always ready. */
#ifndef CCVM_CLI_STDIO_H
#define CCVM_CLI_STDIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

struct loop;
struct inlet;
struct outlet;

struct inlet_ops {
	void (*on_data)(void *arg, const uint8_t *bytes, size_t len); /* len > 0 */
	void (*on_eof)(void *arg); /* also after a read error; nothing follows */
};

/* Paused at first. The descriptor is borrowed. Callbacks come from the loop. */
struct inlet *inlet_open(struct loop *loop, int fd, const struct inlet_ops *ops, void *arg);
void inlet_resume(struct inlet *in); /* idempotent */
void inlet_pause(struct inlet *in);
void inlet_close(struct inlet *in); /* accepts NULL; no callback afterwards */

struct outlet_ops {
	void (*on_drain)(void *arg); /* everything is written */
	/* Once: nobody reads any more (EPIPE) or the disk is full; what is queued is lost, later writes vanish. */
	void (*on_error)(void *arg, const struct err *e);
};

struct outlet *outlet_open(struct loop *loop, int fd, const struct outlet_ops *ops, void *arg);
/* Writes what fits now and queues the rest without bound: stop your source until on_drain when outlet_is_empty is false
 * afterwards. */
void outlet_write(struct outlet *out, const void *bytes, size_t len);
/* Nothing is queued, and no error waits to be told. */
bool outlet_is_empty(const struct outlet *out);
void outlet_close(struct outlet *out); /* accepts NULL; what is queued is dropped */

#endif
