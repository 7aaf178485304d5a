#include "tui/panes.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/list.h"
#include "core/base/mem.h"

struct panes {
	struct loop *loop;
	panes_change_fn *on_change;
	void *arg;
	struct list slots;
};

/* A handful: searched one after the other. */
struct slot {
	struct list link;
	struct panes *pool;
	struct pane *pane;
	bool wanted;
	panes_new_fn *done; /* of a new terminal that is not open yet; else NULL */
	void *done_arg;
};

struct panes *panes_create(struct loop *loop, panes_change_fn *on_change, void *arg)
{
	struct panes *p = mem_alloc(sizeof(*p));
	*p = (struct panes){.loop = loop, .on_change = on_change, .arg = arg};
	list_init(&p->slots);
	return p;
}

static void end_slot(struct slot *s)
{
	list_remove(&s->link);
	pane_close(s->pane);
	free(s);
}

void panes_destroy(struct panes *p)
{
	if (!p)
		return;
	LIST_FOREACH (item, &p->slots)
		end_slot(LIST_ENTRY(item, struct slot, link));
	free(p);
}

static void on_change(void *arg)
{
	struct slot *s = arg;
	s->pool->on_change(s->pool->arg, s->pane);
}

static void on_opened(void *arg, uint32_t number, const char *why)
{
	struct slot *s = arg;
	panes_new_fn *done = s->done;
	s->done = NULL;
	if (done)
		done(s->done_arg, pane_vm(s->pane), number, why);
}

static const struct pane_ops OPS = {.on_change = on_change, .on_opened = on_opened};

static struct slot *open_slot(struct panes *p, const struct pane_wish *wish, const char *const *argv)
{
	struct slot *s = mem_alloc(sizeof(*s));
	*s = (struct slot){.pool = p, .wanted = true};
	list_append(&p->slots, &s->link);
	s->pane = pane_open(p->loop, wish, argv, &OPS, s);
	return s;
}

static struct slot *find(const struct panes *p, const char *vm, uint32_t term)
{
	LIST_FOREACH (item, &p->slots) {
		struct slot *s = LIST_ENTRY(item, struct slot, link);
		if (strcmp(pane_vm(s->pane), vm) == 0 && pane_is(s->pane, term))
			return s;
	}
	return NULL;
}

void panes_sync(struct panes *p, const struct pane_wish *wishes, size_t count)
{
	LIST_FOREACH (item, &p->slots) {
		struct slot *s = LIST_ENTRY(item, struct slot, link);
		s->wanted = s->done != NULL;
	}
	for (size_t i = 0; i < count; i++) {
		struct slot *s = find(p, wishes[i].vm, wishes[i].term);
		if (!s)
			open_slot(p, &wishes[i], NULL);
		else if (!s->wanted)
			pane_resize(s->pane, wishes[i].rows, wishes[i].cols);
		if (s)
			s->wanted = true;
	}
	LIST_FOREACH (item, &p->slots) {
		struct slot *s = LIST_ENTRY(item, struct slot, link);
		if (!s->wanted)
			end_slot(s);
	}
}

struct pane *panes_find(const struct panes *p, const char *vm, uint32_t term)
{
	struct slot *s = find(p, vm, term);
	return s ? s->pane : NULL;
}

void panes_reset(struct panes *p, const char *vm, uint32_t term)
{
	struct slot *s = find(p, vm, term);
	if (s)
		end_slot(s);
}

void panes_new(struct panes *p, const struct pane_wish *wish, const char *const *argv, panes_new_fn *done,
               void *arg)
{
	struct pane_wish fresh = *wish;
	fresh.term = CLIENT_TERM_NEW;
	struct slot *s = open_slot(p, &fresh, argv);
	s->done = done;
	s->done_arg = arg;
}
