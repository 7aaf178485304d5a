/* One guest pty is one link with one AGENT_SPAWN. Its output goes into an emulator; what the emulator wants to say (keys,
 * pastes, answers to the guest's queries) goes back as STDIN.
 *
 * Three brakes keep a guest from costing more than its share:
 *  - FLOOD_BYTES of output per turn of the loop, then the link is paused until the next turn;
 *  - while the guest does not take its input, its output is not read either: a program that asks and asks without reading
 *    the answers would else fill the queue;
 *  - updates are made when a watcher can be sent one, never for every change. */
#include "core/supervisor/terminals_internal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "core/loop/timer.h"

#define FLOOD_BYTES  (64 * 1024)
#define DEFAULT_ROWS 24
#define DEFAULT_COLS 80
#define EXIT_LOST    255 /* exit code of a program whose end was not told */

/* ---- the end ---- */

static void free_terminal(struct terminal *t)
{
	term_entry_remove(t);
	list_remove(&t->link);
	guest_link_close(t->guest);
	timer_close(t->frame);
	timer_close(t->breathe);
	timer_close(t->resize);
	emulator_destroy(t->emulator);
	t->owner->count--;
	free(t);
}

/* Takes a watcher off a terminal that ends; NULL when there is none left. */
static struct term_watch *pop_watch(struct terminal *t)
{
	if (list_is_empty(&t->watches))
		return NULL;
	struct term_watch *w = LIST_ENTRY(t->watches.next, struct term_watch, link);
	list_remove(&w->link);
	w->terminal = NULL;
	return w;
}

static void end_failed(struct terminal *t, const struct err *e)
{
	for (struct term_watch *w; (w = pop_watch(t));)
		w->ops->on_failed(w->arg, e);
	free_terminal(t);
}

/* Every watcher gets the last screen before it is told. */
static void end_exited(struct terminal *t, uint32_t code, uint8_t signum)
{
	t->ending = true;
	if (t->owner->ops->on_ended)
		t->owner->ops->on_ended(t->owner->arg, t->number, code, signum);
	LIST_FOREACH (item, &t->watches) {
		struct term_watch *w = LIST_ENTRY(item, struct term_watch, link);
		w->ops->on_due(w->arg);
	}
	uint32_t number = t->number;
	for (struct term_watch *w; (w = pop_watch(t));)
		w->ops->on_closed(w->arg, number, code, signum);
	free_terminal(t);
}

/* ---- output ---- */

static void on_frame_time(void *arg)
{
	terminal_offer(arg);
}

static void send_to_guest(void *arg, const uint8_t *bytes, size_t len)
{
	struct terminal *t = arg;
	while (len && t->guest) {
		size_t n = MIN(len, (size_t)WIRE_DATA_MAX);
		struct wire_stdin_data m = {.data = {.p = bytes, .len = n}};
		wire_put_stdin_data(guest_link_out(t->guest), TERMINAL_SPAWN_ID, &m);
		guest_link_flush(t->guest);
		bytes += n;
		len -= n;
	}
}

void terminal_may_read(struct terminal *t)
{
	if (!guest_link_is_full(t->guest) && !timer_is_active(t->breathe))
		guest_link_resume(t->guest);
	else
		guest_link_pause(t->guest);
}

static void on_breathe(void *arg)
{
	struct terminal *t = arg;
	t->turn_bytes = 0;
	terminal_may_read(t);
}

static void count_flood(struct terminal *t, size_t len)
{
	uint64_t now = uv_now(loop_uv(t->owner->loop));
	if (now != t->turn)
		t->turn_bytes = 0;
	t->turn = now;
	t->turn_bytes += len;
	if (t->turn_bytes >= FLOOD_BYTES && !timer_is_active(t->breathe))
		timer_once(t->breathe, 0); /* the next turn, after everybody else's input */
}

static bool on_output(struct terminal *t, const struct frame *f, struct err *e)
{
	struct wire_stdout_data m;
	if (!wire_get_stdout_data(f->body, &m, e))
		return false;
	emulator_write(t->emulator, m.data.p, m.data.len);
	term_entry_update(t);
	if (t->owner->ops->on_output)
		t->owner->ops->on_output(t->owner->arg, t->number, m.data.len);
	count_flood(t, m.data.len);
	terminal_may_read(t);
	terminal_offer(t);
	return true;
}

void terminal_touched(struct terminal *t)
{
	if (t->owner->ops->on_touched)
		t->owner->ops->on_touched(t->owner->arg, t->number);
}

/* ---- the guest's messages ---- */

static bool on_spawned(struct terminal *t, const struct frame *f, struct err *e)
{
	struct wire_agent_spawned m;
	if (!wire_get_agent_spawned(f->body, &m, e))
		return false;
	t->running = true;
	terminal_touched(t);
	terminal_offer(t);
	return true;
}

static bool on_refused(struct terminal *t, const struct frame *f, struct err *e)
{
	struct err said = ERR_INIT;
	if (!guest_refusal(f, &said, e))
		return false;
	end_failed(t, &said);
	return true;
}

static bool on_exit_told(struct terminal *t, const struct frame *f, struct err *e)
{
	struct wire_exit m;
	if (!wire_get_exit(f->body, &m, e))
		return false;
	end_exited(t, m.code, m.signum);
	return true;
}

static const struct {
	uint16_t type;
	bool running; /* the phase in which it may come */
	bool (*handle)(struct terminal *t, const struct frame *f, struct err *e);
} FROM_GUEST[] = {
    {WIRE_AGENT_SPAWNED, false, on_spawned},
    {WIRE_ERROR, false, on_refused},
    {WIRE_STDOUT, true, on_output},
    {WIRE_EXIT, true, on_exit_told},
};

static bool on_frame(void *arg, const struct frame *f, struct err *e)
{
	struct terminal *t = arg;
	for (size_t i = 0; i < ARRAY_LEN(FROM_GUEST); i++) {
		if (f->type == FROM_GUEST[i].type && t->running == FROM_GUEST[i].running &&
		    f->id == TERMINAL_SPAWN_ID)
			return FROM_GUEST[i].handle(t, f, e);
	}
	return err_set(e, ERR_PROTOCOL, "message %s does not belong to a terminal that is %s",
	               wire_type_name(f->type), t->running ? "running" : "being started");
}

static void on_guest_drain(void *arg)
{
	terminal_may_read(arg);
}

static void on_guest_end(void *arg, const struct err *e)
{
	struct terminal *t = arg;
	log_info("terminal %u: %s", t->number, e->msg);
	if (t->running)
		end_exited(t, EXIT_LOST, 0);
	else
		end_failed(t, e);
}

static const struct guest_link_ops GUEST_OPS = {
    .on_frame = on_frame, .on_drain = on_guest_drain, .on_end = on_guest_end};

/* ---- opening ---- */

static void on_event(void *arg, const struct emulator_event *ev)
{
	struct terminal *t = arg;
	if (t->owner->ops->on_event)
		t->owner->ops->on_event(t->owner->arg, t->number, ev);
}

static const struct emulator_ops EMULATOR_OPS = {.write_reply = send_to_guest, .on_event = on_event};

static void on_resize_time(void *arg)
{
	terminal_apply_size(arg);
}

/* The program learns its terminal's number, with which it can say how it is doing (EVENT_NOTIFY). False: no room for that. */
static bool put_spawn(struct terminal *t, const struct wire_term_open *m)
{
	struct buf env = BUF_INIT(WIRE_ARGV_MAX);
	char number[40];
	int len = snprintf(number, sizeof(number), "CCVM_TERMINAL=%u", t->number);
	buf_put(&env, m->env.p, m->env.len);
	buf_put(&env, number, (size_t)len + 1);
	struct wire_agent_spawn spawn = {
	    .tty = 1,
	    .rows = (uint16_t)t->want_rows,
	    .cols = (uint16_t)t->want_cols,
	    .argv = m->argv,
	    .env = {.p = env.data, .len = env.len},
	};
	memcpy(spawn.cwd, m->cwd, sizeof(spawn.cwd));
	bool ok = buf_ok(&env) && wire_put_agent_spawn(guest_link_out(t->guest), TERMINAL_SPAWN_ID, &spawn);
	buf_finish(&env);
	return ok;
}

static struct terminal *start_terminal(struct terminals *ts, const struct wire_term_open *m, struct err *e)
{
	if (ts->count >= TERMINALS_MOST) {
		err_set(e, ERR_LIMIT, "the VM has %d terminals, which is the most", TERMINALS_MOST);
		return NULL;
	}
	struct terminal *t = mem_alloc(sizeof(*t));
	t->guest = guest_link_open(ts->loop, ts->vsock_path, WIRE_PORT_AGENT, &GUEST_OPS, t, e);
	if (!t->guest) {
		free(t);
		return NULL;
	}
	t->owner = ts;
	t->first = m->term == 0;
	t->number = ++ts->last_number;
	t->frame = timer_create_on(ts->loop, on_frame_time, t);
	t->breathe = timer_create_on(ts->loop, on_breathe, t);
	t->resize = timer_create_on(ts->loop, on_resize_time, t);
	t->emulator = emulator_create(m->rows ? m->rows : DEFAULT_ROWS, m->cols ? m->cols : DEFAULT_COLS,
	                              &EMULATOR_OPS, t);
	t->want_rows = emulator_rows(t->emulator);
	t->want_cols = emulator_cols(t->emulator);
	list_init(&t->watches);
	list_append(&ts->all, &t->link);
	ts->count++;
	term_entry_add(t, m->argv);
	if (!put_spawn(t, m)) {
		free_terminal(t);
		err_set(e, ERR_LIMIT, "the arguments or the environment are too long");
		return NULL;
	}
	guest_link_flush(t->guest);
	return t;
}

static struct terminal *find_terminal(struct terminals *ts, uint32_t number)
{
	LIST_FOREACH (item, &ts->all) {
		struct terminal *t = LIST_ENTRY(item, struct terminal, link);
		if (number ? t->number == number : t->first)
			return t;
	}
	return NULL;
}

struct term_watch *terminals_open(struct terminals *ts, const struct wire_term_open *m,
                                  const struct term_watch_ops *ops, void *arg, struct err *e)
{
	struct terminal *t = m->term == WIRE_TERM_NEW ? NULL : find_terminal(ts, m->term);
	if (!t && m->term != WIRE_TERM_NEW && m->term != 0) {
		err_set(e, ERR_NOT_FOUND, "the VM has no terminal %u", m->term);
		return NULL;
	}
	if (!t)
		t = start_terminal(ts, m, e);
	if (!t)
		return NULL;
	struct term_watch *w = mem_alloc(sizeof(*w));
	w->terminal = t;
	w->rows = m->rows;
	w->cols = m->cols;
	w->ops = ops;
	w->arg = arg;
	buf_init(&w->paste, TERMINALS_PASTE_MAX);
	list_append(&t->watches, &w->link);
	terminal_count_watches(t);
	term_watch_claim_size(w);
	if (t->running)
		terminal_arm_frame(t, 0); /* on_opened comes from the loop */
	return w;
}

/* ---- signals ---- */

/* What the keys of a terminal and its hang-up can cause, and what ends a program. */
static const int SIGNALS[] = {SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGCONT, SIGTERM, SIGKILL};

bool terminals_signal(struct terminals *ts, uint32_t number, int signum, struct err *e)
{
	struct terminal *t = find_terminal(ts, number);
	bool known = false;
	for (size_t i = 0; i < ARRAY_LEN(SIGNALS); i++)
		known |= SIGNALS[i] == signum;
	if (!known)
		return err_set(e, ERR_INVALID, "signal %d is not for a terminal", signum);
	if (!t || !t->running)
		return err_set(e, ERR_NOT_FOUND, "the VM has no terminal %u", number);
	struct wire_signal m = {.signum = (uint8_t)signum};
	wire_put_signal(guest_link_out(t->guest), TERMINAL_SPAWN_ID, &m);
	terminal_touched(t);
	if (!guest_link_flush(t->guest))
		return err_set(e, ERR_GONE, "terminal %u takes nothing any more", t->number);
	return true;
}

/* ---- all of them ---- */

struct terminals *terminals_create(struct loop *loop, struct board *board, const char *vsock_path,
                                   const struct terminals_ops *ops, void *arg)
{
	static const struct terminals_ops NOBODY = {.on_event = NULL};
	struct terminals *ts = mem_alloc(sizeof(*ts));
	ts->loop = loop;
	ts->board = board;
	ts->vsock_path = vsock_path;
	ts->ops = ops ? ops : &NOBODY;
	ts->arg = arg;
	list_init(&ts->all);
	return ts;
}

void terminals_destroy(struct terminals *ts)
{
	if (!ts)
		return;
	LIST_FOREACH (item, &ts->all) {
		struct terminal *t = LIST_ENTRY(item, struct terminal, link);
		CHECK(list_is_empty(&t->watches));
		free_terminal(t);
	}
	free(ts);
}
