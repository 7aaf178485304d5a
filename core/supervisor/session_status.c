/* The status of the VM as a message. */
#include <stdio.h>
#include <string.h>

#include "core/supervisor/session_internal.h"

static void put_terminal(struct buf *out, const struct vm_terminal *t)
{
	struct wire_terminal_info m = {
	    .number = t->number,
	    .rows = t->rows,
	    .cols = t->cols,
	    .first = t->first,
	    .watchers = t->watchers,
	    .attention = (uint8_t)t->attention.state,
	    .attention_source = (uint8_t)t->attention.source,
	    .attention_seen = t->attention.seen,
	    .attention_ms = (uint64_t)t->attention.at_ms,
	};
	snprintf(m.attention_text, sizeof(m.attention_text), "%s", t->attention.text);
	snprintf(m.title, sizeof(m.title), "%s", t->title);
	snprintf(m.command, sizeof(m.command), "%s", t->command);
	wire_put_terminal_info(out, 0, &m);
}

bool session_put_status(struct buf *out, uint32_t id, const struct vm_status *v)
{
	struct buf list = BUF_INIT(WIRE_TERMINALS_MAX);
	for (uint32_t i = 0; i < v->terminal_count; i++)
		put_terminal(&list, &v->terminal[i]);
	struct wire_status_reply m = {
	    .state = (uint8_t)v->state,
	    .egress = (uint8_t)v->egress,
	    .started_ms = (uint64_t)v->started_ms,
	    .ready_ms = (uint64_t)v->ready_ms,
	    .denied = v->denied,
	    .tunnels = v->tunnels,
	    .supervisor_pid = v->supervisor_pid,
	    .vmm_pid = v->vmm_pid,
	    .cpus = v->cpus,
	    .memory_bytes = v->memory_bytes,
	    .generation = v->generation,
	    .paused = v->paused,
	    .attention = (uint8_t)v->attention.state,
	    .attention_source = (uint8_t)v->attention.source,
	    .attention_seen = v->attention.seen,
	    .attention_ms = (uint64_t)v->attention.at_ms,
	    .denied_seen = v->denied_seen,
	    .cpu_permille = v->cpu_permille,
	    .mem_used_kib = v->mem_used_kib,
	    .mem_total_kib = v->mem_total_kib,
	    .terminal_list = {.p = list.data, .len = list.len},
	};
	snprintf(m.name, sizeof(m.name), "%s", v->name);
	snprintf(m.reason, sizeof(m.reason), "%s", v->reason);
	snprintf(m.backend, sizeof(m.backend), "%s", v->backend);
	snprintf(m.image, sizeof(m.image), "%s", v->image);
	snprintf(m.attention_text, sizeof(m.attention_text), "%s", v->attention.text);
	bool ok = buf_ok(&list) && wire_put_status_reply(out, id, &m);
	buf_finish(&list);
	return ok;
}
