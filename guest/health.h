/* What the guest knows of itself, looked at when asked. */
#ifndef CCVM_GUEST_HEALTH_H
#define CCVM_GUEST_HEALTH_H

#include "core/wire/wire.h"

/* Fills in the clock, memory and processor fields; what cannot be read is 0. */
void health_measure(struct wire_agent_pong *out);
/* boot id, kernel and uptime of EVENT_READY. */
void health_identify(struct wire_event_ready *out);

/* Pure: a number in KiB after "Name:" in the text of /proc/meminfo, 0 when it is not there. */
uint64_t health_meminfo(const char *text, const char *name);
/* Pure: ticks that were not idle, of the first line of /proc/stat. */
uint64_t health_busy_ticks(const char *text);

#endif
