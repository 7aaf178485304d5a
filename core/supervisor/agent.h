/* Single questions to the guest's agent: each is one connection with one request and one answer. */
#ifndef CCVM_SUPERVISOR_AGENT_H
#define CCVM_SUPERVISOR_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/wire/wire.h"

struct loop;
struct agent_ask;

#define AGENT_ANSWER_MS 8000 /* below the ten seconds that a client waits: it is to hear why */

/* From the loop, once: `e` is NULL when the guest answered. `pong` is of a ping, else NULL. rtt_us: from the question
 * to the answer. The ask is over then; close it. */
typedef void agent_done_fn(void *arg, const struct wire_agent_pong *pong, uint32_t rtt_us,
                           const struct err *e);

struct agent_ask *agent_ping(struct loop *loop, const char *vsock_path, agent_done_fn *done, void *arg,
                             struct err *e) MUST_USE;
/* The guest is to power off. An answer means that it will. */
struct agent_ask *agent_shutdown(struct loop *loop, const char *vsock_path, agent_done_fn *done, void *arg,
                                 struct err *e) MUST_USE;
void agent_ask_close(struct agent_ask *a); /* accepts NULL; no callback afterwards */

#endif
