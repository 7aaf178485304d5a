/* One connection to a VM's supervisor: the only way in for the commands and the dashboard.
 *
 *     connect ──► (HELLO both ways) ──► open ──► closed (on_closed, once)
 *
 * - Requests may be made right after client_connect; they wait for the HELLO of the supervisor.
 * - Each request has a time limit and its callback fires exactly once, from the loop: with the answer, with what the
 *   supervisor said against it, or with ERR_TIMEOUT / ERR_GONE. When the connection breaks, every waiting request,
 *   program and terminal hears of it first, on_closed comes last.
 * - client_close ends everything on the connection; no callback comes afterwards. Programs and terminals (exec.h,
 *   terminal.h) are dead then but still belong to their owner, who closes them before or after. All closing may be done
 *   from any callback.
 * - Texts in answers come from the supervisor, which escapes what a guest said; they are shown as they are. */
#ifndef CCVM_CLIENT_CLIENT_H
#define CCVM_CLIENT_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/vm/vm.h"

struct loop;
struct client;

struct client_ops {
	void (*on_open)(void *arg); /* may be NULL */
	/* Never NULL: ERR_NOT_FOUND nobody listens, ERR_PROTOCOL another version or nonsense, ERR_GONE it went away. The
	 * client is dead but not freed: call client_close. */
	void (*on_closed)(void *arg, const struct err *e);
};

/* `vm` must have passed parse_name. Fails only for what shows at once (no runtime folder, a path that is too long). */
struct client *client_connect(struct loop *loop, const char *vm, const struct client_ops *ops, void *arg,
                              struct err *e) MUST_USE;
void client_close(struct client *c); /* accepts NULL */
bool client_is_open(const struct client *c);
const char *client_vm(const struct client *c);

#define CLIENT_TIMEOUT_MS 10000 /* of every request that names no other */

typedef void client_status_fn(void *arg, const struct vm_status *status, const struct err *e);
void client_status(struct client *c, client_status_fn *done, void *arg);
/* The status now and after each change, until the connection ends. An error comes at most once, as the last call. */
void client_watch(struct client *c, client_status_fn *on_status, void *arg);

/* The guest's own half of the egress path and the host's half. */
struct client_pong {
	bool agent_ok;        /* the guest's agent answered; the next three are false if not */
	bool relay_listening; /* 127.0.0.1:3128 in the guest */
	bool vsock_reachable; /* the guest reaches the proxy's port */
	bool lo_up;
	bool proxy_ok; /* the proxy runs and answers on the host */
	uint32_t rtt_us;
	uint64_t uptime_ms, mem_total_kib, mem_available_kib, cpu_busy_ms;
	char text[401]; /* what is broken, for people; "" */
};
bool client_pong_is_ok(const struct client_pong *p); /* all of it */
typedef void client_ping_fn(void *arg, const struct client_pong *pong, const struct err *e);
void client_ping(struct client *c, client_ping_fn *done, void *arg);

/* `text` is one line for people. */
typedef void client_text_fn(void *arg, const char *text, const struct err *e);
/* Answered once the proxy has the rule in force; text: the rule in canonical form and what happens. seconds: how long
 * it lives, 0 for good. */
void client_allow(struct client *c, const char *rule, uint32_t seconds, client_text_fn *done, void *arg);
void client_deny(struct client *c, const char *rule, client_text_fn *done, void *arg);
/* Answered when the VM has stopped: by the guest itself within grace_ms, else by ending the VMM. A supervisor that goes
 * away during this has done what was asked: no error. */
void client_stop(struct client *c, uint32_t grace_ms, client_text_fn *done, void *arg);
void client_kill(struct client *c, client_text_fn *done, void *arg);
/* The VM's CPUs stand still, or go on. */
void client_pause_vm(struct client *c, bool paused, client_text_fn *done, void *arg);
/* The operator has looked at what waits, at what was refused. */
void client_seen(struct client *c, bool attention, bool denied, client_text_fn *done, void *arg);
/* A signal for the program of a terminal: SIGHUP closes it. */
void client_term_signal(struct client *c, uint32_t term, int signum, client_text_fn *done, void *arg);

#endif
