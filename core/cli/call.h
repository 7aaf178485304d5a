/* One request to one VM, waited for: what most commands are made of. */
#ifndef CCVM_CLI_CALL_H
#define CCVM_CLI_CALL_H

#include <stdbool.h>

#include "core/base/err.h"
#include "core/client/client.h"
#include "core/vm/vm.h"

struct loop;

#define CALL_TEXT_SIZE 401

/* Each checks the name, connects, asks, runs the loop until the answer is there and closes. A VM that does not run
 * is ERR_NOT_FOUND and says how to start it. */
bool call_status(struct loop *loop, const char *vm, struct vm_status *out, struct err *e) MUST_USE;
bool call_ping(struct loop *loop, const char *vm, struct client_pong *out, struct err *e) MUST_USE;

bool call_pause(struct loop *loop, const char *vm, bool paused, struct err *e) MUST_USE;

/* seconds: how long an allow lives, 0 for good; `text` holds CALL_TEXT_SIZE bytes. */
bool call_allow(struct loop *loop, const char *vm, const char *rule, uint32_t seconds, char *text,
                struct err *e) MUST_USE;
bool call_deny(struct loop *loop, const char *vm, const char *rule, char *text, struct err *e) MUST_USE;
/* Stop with this grace time, or kill. One that does not run is ERR_NOT_FOUND. call_kill ends also a VM whose supervisor
 * does not answer. */
bool call_stop(struct loop *loop, const char *vm, uint32_t grace_ms, struct err *e) MUST_USE;
bool call_kill(struct loop *loop, const char *vm, struct err *e) MUST_USE;

#endif
