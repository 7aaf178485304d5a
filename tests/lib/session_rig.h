/* A client's session over a socket pair with everything around it that a supervisor would have: board, health, policy,
 * terminals, their attention, and a guest's double behind the vsock socket. The client's end collects what comes. */
#ifndef CCVM_TESTS_LIB_SESSION_RIG_H
#define CCVM_TESTS_LIB_SESSION_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/supervisor/session.h"
#include "core/vm/vm.h"
#include "core/wire/frame.h"
#include "core/wire/wire.h"
#include "tests/lib/guest_double.h"

#define RIG_MOST_FRAMES 6000

struct got {
	uint16_t type;
	uint32_t id;
	uint8_t *body;
	size_t len;
};

/* The client's end of a session. */
struct peer {
	struct rig *f;
	struct session *session;
	struct stream *stream;
	struct frame_reader frames;
	struct buf out;
	struct got got[RIG_MOST_FRAMES];
	size_t count, taken;
	size_t stdout_bytes; /* not kept, only counted */
	bool gone;           /* the session has closed */
	bool told_gone;      /* it said so to its owner */
};

struct rig {
	struct loop *loop;
	char dir[32];
	char *vsock, *policy_path, *proxy;
	struct guest_double *guest;
	int proxy_fd; /* listens: the proxy answers */
	struct board *board;
	struct health *health;
	struct live_policy *policy;
	struct terminals *terminals;
	struct lookout *lookout;
	struct session_host host;
	struct peer a, b;
	unsigned reloads;
	bool proxy_is_deaf, proxy_refuses;
	uint32_t stop_grace;
	unsigned stops, kills, pauses, resumes;
	bool seen_attention, seen_denied;
};

/* cmocka's: *state is the rig. The VM is ready, the policy allows a.example. */
int rig_setup(void **state);
int rig_teardown(void **state);
void rig_set_state(struct rig *f, enum vm_state s);
/* The proxy's answer to SIGHUP; comes by itself unless proxy_is_deaf. */
void rig_answer_reload(void *rig);

void peer_open(struct rig *f, struct peer *p);
void peer_greet(struct rig *f, struct peer *p); /* with HELLO both ways */
void peer_close(struct peer *p);
void peer_send(struct peer *p); /* what is in `out` */
void peer_put_exec(struct peer *p, uint32_t id, const char *const *argv);
void peer_put_stdin(struct peer *p, uint32_t id, const void *bytes, size_t len);
#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Wait for the next message, which must be this one; the test fails otherwise. */
bool peer_has_frame(void *peer);
const struct got *peer_take(struct peer *p, uint16_t type);
struct bytes got_body(const struct got *g);
struct wire_error peer_take_error(struct peer *p, uint32_t id, enum err_kind kind);
struct wire_ok peer_take_ok(struct peer *p, uint32_t id);
struct wire_status_reply peer_take_status(struct peer *p);
struct wire_exit peer_take_exit(struct peer *p, uint32_t id);
void peer_expect_closed(struct peer *p);

/* How a guest can break the protocol. */
#define BAD_MANNERS_COUNT 8
extern const enum guest_manners BAD_MANNERS[BAD_MANNERS_COUNT];

#endif
