/* Text, keys and pastes for a terminal that nobody here watches: `ccvm send`, and the dashboard's "send text" to many VMs.
 *
 * Opens a watch without a size (the terminal keeps its own), sends when it is open, waits until the supervisor has handed
 * everything on, leaves. */
#ifndef CCVM_CLIENT_SEND_H
#define CCVM_CLIENT_SEND_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

struct client_send;
struct loop;

enum send_kind { SEND_TEXT, SEND_KEY, SEND_PASTE };

struct send_item {
	enum send_kind kind;
	const char *bytes; /* of a text or a paste; borrowed during client_send_start */
	size_t len;
	uint32_t key; /* as in client_term_key */
	unsigned mods;
};

#define CLIENT_SEND_MAX (1024 * 1024) /* bytes of all items together */

/* e NULL: the supervisor has taken all of it for the guest. Once, from the loop; close it then. */
typedef void client_send_fn(void *arg, const struct err *e);

/* `vm` must have passed parse_name. term: a number or CLIENT_TERM_FIRST (terminal.h). Fails for what shows at once: no runtime
 * folder, items over the limit. */
struct client_send *client_send_start(struct loop *loop, const char *vm, uint32_t term,
                                      const struct send_item *items, size_t count, client_send_fn *done,
                                      void *arg, struct err *e) MUST_USE;
/* Accepts NULL; no callback afterwards. What was not sent by then is not. */
void client_send_close(struct client_send *s);

#endif
