#include "tui/vm_order.h"

#include <stdlib.h>
#include <string.h>

#include "tui/words.h"

#define WORD_SIZE 64

static const char *const SORT_NAMES[SORT_COUNT] = {"state", "name", "age", "cpu", "mem", "denied"};

const char *vm_sort_name(enum vm_sort s)
{
	return (unsigned)s < SORT_COUNT ? SORT_NAMES[s] : "unknown";
}

bool vm_sort_parse(const char *name, enum vm_sort *out)
{
	for (int i = 0; i < SORT_COUNT; i++) {
		if (strcmp(name, SORT_NAMES[i]) == 0) {
			*out = (enum vm_sort)i;
			return true;
		}
	}
	return false;
}

bool vm_waits(const struct fleet_vm *vm)
{
	return vm->status.state == VM_READY && vm->status.attention.state == ATTENTION_WAITING;
}

bool vm_waits_unseen(const struct fleet_vm *vm)
{
	return vm_waits(vm) && !vm->status.attention.seen;
}

bool vm_calls(const struct fleet_vm *vm)
{
	return vm->status.state == VM_READY && vm_attention_calls(vm->status.attention.state) &&
	       !vm->status.attention.seen;
}

unsigned vm_denied_since(const struct fleet_vm *vm)
{
	/* A log that was begun anew counts from zero. */
	return vm->status.denied >= vm->status.denied_seen ? vm->status.denied - vm->status.denied_seen
	                                                   : vm->status.denied;
}

/* ---- filter ---- */

static bool has_prefix(const char *text, const char *prefix)
{
	return text && text[0] && strncasecmp(text, prefix, strlen(prefix)) == 0;
}

static bool state_matches(const struct fleet_vm *vm, const char *word)
{
	const struct vm_status *s = &vm->status;
	return has_prefix(vm_state_name(s->state), word) || has_prefix(words_vm(vm, NULL).word, word) ||
	       (s->state == VM_READY && s->attention.state != ATTENTION_NONE &&
	        has_prefix(vm_attention_name(s->attention.state), word)) ||
	       (s->paused && has_prefix("paused", word)) ||
	       (s->egress == VM_EGRESS_BROKEN && has_prefix("broken", word));
}

static bool text_matches(const struct fleet_vm *vm, const char *word)
{
	if (strcasestr(vm->status.name, word))
		return true;
	for (uint32_t i = 0; i < vm->status.terminal_count; i++) {
		if (strcasestr(vm->status.terminal[i].title, word))
			return true;
	}
	return false;
}

static bool word_matches(const struct fleet_vm *vm, const char *word)
{
	bool no = word[0] == '!';
	word += no;
	if (!word[0])
		return true; /* "!" alone is a word that is still being typed */
	bool match;
	if (strncmp(word, "state:", 6) == 0)
		match = !word[6] || state_matches(vm, word + 6);
	else if (strncmp(word, "image:", 6) == 0)
		match = strcasestr(vm->status.image, word + 6) != NULL;
	else if (strncmp(word, "backend:", 8) == 0)
		match = strcasestr(vm->status.backend, word + 8) != NULL;
	else
		match = text_matches(vm, word);
	return match != no;
}

bool vm_filter_matches(const char *filter, const struct fleet_vm *vm)
{
	for (const char *at = filter ? filter : ""; *at;) {
		char word[WORD_SIZE];
		size_t len = strcspn(at, " ");
		size_t kept = MIN(len, sizeof(word) - 1);
		memcpy(word, at, kept);
		word[kept] = '\0';
		if (kept > 0 && !word_matches(vm, word))
			return false;
		at += len;
		at += strspn(at, " ");
	}
	return true;
}

/* ---- order ---- */

static int waiting_rank(const struct fleet_vm *vm)
{
	return vm_waits_unseen(vm) ? 0 : vm_waits(vm) ? 1 : 2;
}

static int attention_rank(const struct vm_attention *a)
{
	static const int RANKS[ATTENTION_STATE_COUNT] = {
	    [ATTENTION_WAITING] = 1, [ATTENTION_WORKING] = 4, [ATTENTION_FINISHED] = 5,
	    [ATTENTION_IDLE] = 6,    [ATTENTION_FAILED] = 5,  [ATTENTION_NONE] = 7,
	};
	return (unsigned)a->state < ATTENTION_STATE_COUNT ? RANKS[a->state] : 7;
}

static int state_rank(const struct fleet_vm *vm)
{
	if (waiting_rank(vm) < 2)
		return waiting_rank(vm);
	if (vm_calls(vm) || vm->hangs)
		return 2;
	switch (vm->status.state) {
	case VM_READY: return attention_rank(&vm->status.attention);
	case VM_CREATING:
	case VM_BOOTING: return 3;
	case VM_FAILED: return 8;
	case VM_STOPPING: return 9;
	case VM_STOPPED:
	case VM_STATE_COUNT: break;
	}
	return 10;
}

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int64_t since(const struct fleet_vm *vm)
{
	int64_t ms = 0;
	words_vm(vm, &ms);
	return ms > 0 ? ms : INT64_MAX;
}

static int by_key(const struct fleet_vm *a, const struct fleet_vm *b, enum vm_sort sort)
{
	switch (sort) {
	case SORT_STATE: return compare(state_rank(a), state_rank(b));
	case SORT_AGE: return compare(since(a), since(b));
	case SORT_CPU: return compare(b->status.cpu_permille, a->status.cpu_permille);
	case SORT_MEM: return compare((int64_t)b->status.mem_used_kib, (int64_t)a->status.mem_used_kib);
	case SORT_DENIED: return compare(vm_denied_since(b), vm_denied_since(a));
	case SORT_NAME:
	case SORT_COUNT: break;
	}
	return 0;
}

static int order(const void *pa, const void *pb, void *arg)
{
	const struct fleet_vm *a = *(const struct fleet_vm *const *)pa;
	const struct fleet_vm *b = *(const struct fleet_vm *const *)pb;
	int rank = compare(waiting_rank(a), waiting_rank(b));
	if (rank == 0)
		rank = by_key(a, b, *(const enum vm_sort *)arg);
	return rank ? rank : strcmp(a->status.name, b->status.name);
}

void vm_order_sort(const struct fleet_vm **vms, size_t count, enum vm_sort sort)
{
	if (count > 1)
		qsort_r(vms, count, sizeof(*vms), order, &sort);
}
