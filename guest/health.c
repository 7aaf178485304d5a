#include "guest/health.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"

#define TEXT_MOST 65536

static char *slurp(const char *path)
{
	struct err e = ERR_INIT;
	char *text = fd_read_file(path, TEXT_MOST, NULL, &e);
	return text ? text : mem_strdup("");
}

uint64_t health_meminfo(const char *text, const char *name)
{
	size_t len = strlen(name);
	for (const char *line = text; line && *line;) {
		if (strncmp(line, name, len) == 0 && line[len] == ':')
			return strtoull(line + len + 1, NULL, 10);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return 0;
}

uint64_t health_busy_ticks(const char *text)
{
	/* user nice system idle iowait irq softirq steal; guest time is in user already */
	unsigned long long v[8] = {0};
	if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3], &v[4],
	           &v[5], &v[6], &v[7]) < 4)
		return 0;
	return v[0] + v[1] + v[2] + v[5] + v[6];
}

static uint64_t uptime_ms(void)
{
	struct timespec t = {0};
	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void health_measure(struct wire_agent_pong *out)
{
	char *mem FREE_ON_EXIT = slurp("/proc/meminfo");
	char *stat FREE_ON_EXIT = slurp("/proc/stat");
	long hz = sysconf(_SC_CLK_TCK);
	out->uptime_ms = uptime_ms();
	out->mem_total_kib = health_meminfo(mem, "MemTotal");
	out->mem_available_kib = health_meminfo(mem, "MemAvailable");
	out->cpu_busy_ms = health_busy_ticks(stat) * 1000 / (uint64_t)(hz > 0 ? hz : 100);
}

void health_identify(struct wire_event_ready *out)
{
	struct utsname un;
	char *id FREE_ON_EXIT = slurp("/proc/sys/kernel/random/boot_id");
	id[strcspn(id, "\n")] = '\0';
	snprintf(out->boot_id, sizeof(out->boot_id), "%s", id);
	if (uname(&un) == 0)
		snprintf(out->kernel, sizeof(out->kernel), "%s", un.release);
	out->uptime_ms = uptime_ms();
}
