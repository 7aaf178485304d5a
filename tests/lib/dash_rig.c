#include "tests/lib/dash_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/term/keys.h"
#include "core/term/unicode.h"

/* ---- what the dash asks for ---- */

static void get_model(void *arg, struct model *out)
{
	*out = ((struct dash_rig *)arg)->model;
}

static bool send_key(void *arg, const char *vm, uint32_t term, uint32_t key, unsigned mods)
{
	struct dash_rig *r = arg;
	char name[KEY_NAME_SIZE];
	key_name(key, mods, name);
	if (term)
		str_appendf(&r->log, "key %s:%u %s\n", vm, term, name);
	else
		str_appendf(&r->log, "key %s %s\n", vm, name);
	return true;
}

static bool send_paste(void *arg, const char *vm, uint32_t term, struct bytes text, bool first, bool last)
{
	struct dash_rig *r = arg;
	(void)term;
	str_appendf(&r->log, "paste %s %.*s%s%s\n", vm, (int)text.len, (const char *)text.p,
	            first ? " first" : "", last ? " last" : "");
	return true;
}

static void send_mouse(void *arg, const char *vm, uint32_t term, const struct term_mouse *m)
{
	(void)term;
	str_appendf(&((struct dash_rig *)arg)->log, "mouse %s %d at %d,%d\n", vm, m->kind, m->row, m->col);
}

static void reopen(void *arg, const char *vm, uint32_t term)
{
	struct dash_rig *r = arg;
	str_appendf(&r->log, "reopen %s:%u\n", vm, term);
	for (size_t i = 0; i < r->model.pane_count; i++) {
		if (strcmp(r->panes[i].source.vm, vm) == 0)
			r->panes[i].source.link = PANE_OPENING;
	}
}

static void new_terminal(void *arg, const char *vm, unsigned rows, unsigned cols)
{
	str_appendf(&((struct dash_rig *)arg)->log, "new terminal %s %ux%u\n", vm, cols, rows);
}

static bool history(void *arg, const char *vm, uint32_t term, uint32_t tag, uint64_t before, uint32_t most)
{
	struct dash_rig *r = arg;
	(void)vm, (void)term, (void)tag, (void)before, (void)most;
	return !r->refuse_history;
}

static void request(void *arg, const struct dash_request *q)
{
	static const char *const NAMES[] = {
	    [DASH_ALLOW] = "allow",
	    [DASH_DENY] = "deny",
	    [DASH_STOP] = "stop",
	    [DASH_KILL] = "kill",
	    [DASH_PAUSE] = "pause",
	    [DASH_RESUME] = "resume",
	    [DASH_SEND] = "send",
	    [DASH_INTERRUPT] = "interrupt",
	    [DASH_HANG_UP] = "hang up",
	    [DASH_SEEN] = "seen",
	    [DASH_SEEN_DENIED] = "seen denied",
	};
	struct str *log = &((struct dash_rig *)arg)->log;
	str_appendf(log, "%s %s", NAMES[q->verb], q->vm);
	if (q->term)
		str_appendf(log, ":%u", q->term);
	if (q->text)
		str_appendf(log, " %s", q->text);
	if (q->seconds)
		str_appendf(log, " %us", q->seconds);
	str_append(log, "\n");
}

static void run(void *arg, const char *const *argv)
{
	struct str *log = &((struct dash_rig *)arg)->log;
	str_append(log, "run");
	for (size_t i = 0; argv[i]; i++)
		str_appendf(log, " %s", argv[i]);
	str_append(log, "\n");
}

static void write_allow(void *arg, const char *rule)
{
	str_appendf(&((struct dash_rig *)arg)->log, "write %s\n", rule);
}

static void jobs_text(void *arg, struct str *out)
{
	(void)arg;
	str_clear(out);
	str_append(out, "done\tup beta\n\tVM beta is ready\n");
}

static void copy(void *arg, struct bytes text)
{
	str_appendf(&((struct dash_rig *)arg)->log, "copy %.*s\n", (int)text.len, (const char *)text.p);
}

static void copy_again(void *arg, const char *method)
{
	str_appendf(&((struct dash_rig *)arg)->log, "copy again %s\n", method);
}

static void set_theme(void *arg, const char *name)
{
	str_appendf(&((struct dash_rig *)arg)->log, "theme %s\n", name);
}

static void offer_names(void *arg, enum action_takes takes, palette_offer_fn *offer, void *to)
{
	(void)arg;
	if (takes == TAKES_THEME) {
		offer(to, "dark");
		offer(to, "default");
		offer(to, "light");
	} else if (takes == TAKES_IMAGE) {
		offer(to, "base");
		offer(to, "dev");
	}
}

static void keep(void *arg, const struct remember *kept)
{
	((struct dash_rig *)arg)->kept = *kept;
}

static void reload(void *arg)
{
	str_append(&((struct dash_rig *)arg)->log, "reload\n");
}

static void repaint(void *arg)
{
	str_append(&((struct dash_rig *)arg)->log, "repaint\n");
}

static void suspend(void *arg)
{
	str_append(&((struct dash_rig *)arg)->log, "suspend\n");
}

static void quit(void *arg)
{
	str_append(&((struct dash_rig *)arg)->log, "quit\n");
}

static const struct dash_ops OPS = {
    .get_model = get_model,
    .send_key = send_key,
    .send_paste = send_paste,
    .send_mouse = send_mouse,
    .reopen = reopen,
    .new_terminal = new_terminal,
    .history = history,
    .request = request,
    .run = run,
    .write_allow = write_allow,
    .jobs_text = jobs_text,
    .copy = copy,
    .copy_again = copy_again,
    .set_theme = set_theme,
    .offer = offer_names,
    .remember = keep,
    .reload = reload,
    .repaint = repaint,
    .suspend = suspend,
    .quit = quit,
};

void dash_rig_init(struct dash_rig *r)
{
	struct remember none = {0};
	memset(r, 0, sizeof(*r));
	r->model = (struct model){.vms = r->vm_list,
	                          .settled = true,
	                          .feed = {.entries = r->entry_list, .denials = r->denial_list},
	                          .panes = r->panes,
	                          .console = "",
	                          .jobs = &r->job,
	                          .now_ms = RIG_NOW_MS};
	settings_init(&r->settings);
	str_init(&r->log, 65536);
	canvas_init(&r->canvas, 1, 1);
	r->dash = dash_create(&OPS, r, &r->settings, &none);
	dash_resize(r->dash, 24, 100);
}

void dash_rig_finish(struct dash_rig *r)
{
	dash_destroy(r->dash);
	canvas_finish(&r->canvas);
	for (size_t i = 0; i < r->model.pane_count; i++)
		screen_finish(&r->screens[i]);
	settings_finish(&r->settings);
	str_finish(&r->log);
}

/* ---- data ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct fleet_vm *const *)a)->status.name,
	              (*(const struct fleet_vm *const *)b)->status.name);
}

struct vm_status *dash_rig_vm(struct dash_rig *r, const char *name, enum vm_state state)
{
	size_t at = 0;
	while (r->vms[at].status.name[0]) /* a place that is free */
		CHECK(++at < RIG_VMS);
	struct fleet_vm *vm = &r->vms[at];
	*vm = (struct fleet_vm){.settled = true,
	                        .status = {.state = state,
	                                   .cpus = 1,
	                                   .memory_bytes = 512ull << 20,
	                                   .started_ms = RIG_NOW_MS - 12 * RIG_MINUTE,
	                                   .ready_ms = RIG_NOW_MS - 12 * RIG_MINUTE,
	                                   .egress = state == VM_READY ? VM_EGRESS_OK : VM_EGRESS_UNKNOWN}};
	snprintf(vm->status.name, sizeof(vm->status.name), "%s", name);
	snprintf(vm->status.backend, sizeof(vm->status.backend), "qemu-tcg");
	snprintf(vm->status.image, sizeof(vm->status.image), "base");
	r->vm_list[r->model.vm_count++] = vm;
	qsort(r->vm_list, r->model.vm_count, sizeof(r->vm_list[0]), by_name);
	return &vm->status;
}

struct fleet_vm *dash_rig_find(struct dash_rig *r, const char *name)
{
	for (size_t i = 0; i < RIG_VMS; i++) {
		if (strcmp(r->vms[i].status.name, name) == 0)
			return &r->vms[i];
	}
	BUG("no such VM: %s", name);
}

void dash_rig_remove(struct dash_rig *r, const char *name)
{
	struct fleet_vm *vm = dash_rig_find(r, name);
	size_t kept = 0;
	for (size_t i = 0; i < r->model.vm_count; i++) {
		if (r->vm_list[i] != vm)
			r->vm_list[kept++] = r->vm_list[i];
	}
	r->model.vm_count = kept;
	vm->status.name[0] = '\0';
}

void dash_rig_attention(struct dash_rig *r, const char *name, enum vm_attention_state state, int64_t age_ms)
{
	struct vm_attention *a = &dash_rig_find(r, name)->status.attention;
	*a = (struct vm_attention){.state = state,
	                           .source = ATTENTION_BY_HOOK,
	                           .seen = !vm_attention_calls(state),
	                           .at_ms = r->model.now_ms - age_ms};
}

static void fold(struct dash_rig *r, const struct feed_entry *e)
{
	struct feed_list *f = &r->model.feed;
	size_t at = 0;
	while (at < f->denial_count && (strcmp(r->denial_list[at]->newest.vm, e->vm) != 0 ||
	                                strcmp(r->denial_list[at]->newest.target, e->target) != 0))
		at++;
	struct feed_denial *d = &r->denials[f->denial_count];
	if (at < f->denial_count) { /* the newest goes to the end */
		d = &r->denials[r->denial_list[at] - r->denials];
		memmove(&r->denial_list[at], &r->denial_list[at + 1],
		        (f->denial_count - at - 1) * sizeof(r->denial_list[0]));
		f->denial_count--;
	} else {
		*d = (struct feed_denial){.id = at + 1, .first_ms = e->time_ms};
	}
	d->newest = *e;
	d->count++;
	r->denial_list[f->denial_count++] = d;
}

void dash_rig_deny(struct dash_rig *r, const char *vm, int64_t age_ms, const char *target, const char *why)
{
	struct feed_list *f = &r->model.feed;
	struct feed_entry *e = &r->entries[f->entry_count];
	CHECK(f->entry_count < RIG_ENTRIES);
	*e = (struct feed_entry){
	    .event = FEED_DENY, .time_ms = r->model.now_ms - age_ms, .serial = f->entry_count + 1};
	snprintf(e->vm, sizeof(e->vm), "%s", vm);
	snprintf(e->target, sizeof(e->target), "%s", target);
	snprintf(e->why, sizeof(e->why), "%s", why);
	r->entry_list[f->entry_count++] = e;
	fold(r, e);
	for (size_t i = 0; i < r->model.vm_count; i++)
		((struct fleet_vm *)(uintptr_t)r->vm_list[i])->status.denied +=
		    strcmp(r->vm_list[i]->status.name, vm) == 0;
}

struct model_pane *dash_rig_pane(struct dash_rig *r, const char *vm, uint32_t wished, unsigned rows,
                                 unsigned cols)
{
	CHECK(r->model.pane_count < RIG_PANES);
	size_t i = r->model.pane_count++;
	screen_init(&r->screens[i], rows, cols);
	r->screens[i].generation = 1;
	r->screens[i].whole = true;
	struct model_pane *p = &r->panes[i];
	*p = (struct model_pane){
	    .wished = wished,
	    .source = {.term = wished ? wished : 1, .link = PANE_LIVE, .screen = &r->screens[i], .why = ""}};
	snprintf(p->source.vm, sizeof(p->source.vm), "%s", vm);
	return p;
}

/* A wide character is one from U+2E80 on. */
void dash_rig_put(struct screen *s, unsigned row, unsigned col, const struct cell *look, const char *text)
{
	size_t len = strlen(text);
	for (size_t i = 0; i < len && col < s->cols;) {
		uint32_t cp;
		i += utf8_decode((const uint8_t *)text + i, len - i, &cp);
		struct cell *cell = &s->cells[(size_t)row * s->cols + col];
		*cell = *look;
		cell->code = cp;
		cell->width = cp >= 0x2e80 ? CELL_WIDE : CELL_NARROW;
		col++;
		if (cell->width == CELL_WIDE && col < s->cols) {
			s->cells[(size_t)row * s->cols + col] = *look;
			s->cells[(size_t)row * s->cols + col++].width = CELL_TAIL;
		}
	}
}

/* ---- keys and picture ---- */

void dash_rig_press(struct dash_rig *r, const char *keys)
{
	char *copy_of FREE_ON_EXIT = mem_strdup(keys);
	char *save = NULL;
	for (char *name = strtok_r(copy_of, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
		uint32_t key;
		unsigned mods;
		CHECK(key_parse(name, &key, &mods));
		dash_key(r->dash, key, mods);
	}
}

void dash_rig_type(struct dash_rig *r, const char *text)
{
	for (; *text; text++)
		dash_key(r->dash, (uint32_t)(unsigned char)*text, 0);
}

bool dash_rig_shows(struct dash_rig *r, const char *text)
{
	struct str out = STR_INIT(1 << 20);
	dash_draw(r->dash, &r->canvas);
	canvas_dump_text(&r->canvas, &out);
	bool found = strstr(out.s, text) != NULL;
	str_finish(&out);
	return found;
}

bool dash_rig_asked(struct dash_rig *r, const char *log)
{
	bool same = strcmp(r->log.s, log) == 0;
	if (!same)
		fprintf(stderr, "asked for:\n%swanted:\n%s", r->log.s, log);
	str_clear(&r->log);
	return same;
}
