/* ping: does the VM answer, and does its whole way out work? The guest looks at its own half. */
#include <stdio.h>

#include "core/cli/call.h"
#include "core/cli/cli.h"
#include "core/cli/format.h"

static const struct arg_option OPTIONS[] = {
    {.name = "json", .kind = ARG_FLAG, .help = "as JSON"},
    {.name = NULL},
};

/* The way out, from the inside; all that follows a broken part is not known. */
static const struct part {
	const char *name, *key;
	size_t at;
	const char *good, *bad;
} PARTS[] = {
    {"agent", "agent_ok", offsetof(struct client_pong, agent_ok), "answers", "does not answer"},
    {"lo", "lo_up", offsetof(struct client_pong, lo_up), "up",
     "down: nothing in the guest reaches the relay"},
    {"relay", "relay_listening", offsetof(struct client_pong, relay_listening), "listening on 127.0.0.1:3128",
     "not listening on 127.0.0.1:3128"},
    {"vsock", "vsock_reachable", offsetof(struct client_pong, vsock_reachable), "reaches the host",
     "does not reach the host"},
    {"proxy", "proxy_ok", offsetof(struct client_pong, proxy_ok), "answers", "does not answer"},
};

static bool is_good(const struct client_pong *pong, const struct part *p)
{
	return *(const bool *)((const char *)pong + p->at);
}

static void print_json(const char *vm, const struct client_pong *pong)
{
	cJSON *o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "name", vm);
	cJSON_AddBoolToObject(o, "ok", client_pong_is_ok(pong));
	for (size_t i = 0; i < ARRAY_LEN(PARTS); i++)
		cJSON_AddBoolToObject(o, PARTS[i].key, is_good(pong, &PARTS[i]));
	cJSON_AddNumberToObject(o, "rtt_us", pong->rtt_us);
	cJSON_AddNumberToObject(o, "uptime_ms", (double)pong->uptime_ms);
	cJSON_AddNumberToObject(o, "mem_total_kib", (double)pong->mem_total_kib);
	cJSON_AddNumberToObject(o, "mem_available_kib", (double)pong->mem_available_kib);
	cJSON_AddNumberToObject(o, "cpu_busy_ms", (double)pong->cpu_busy_ms);
	cJSON_AddStringToObject(o, "text", pong->text);
	format_print_json(o);
}

static void print_text(const char *vm, const struct client_pong *pong)
{
	char up[FORMAT_SIZE], total[FORMAT_SIZE], available[FORMAT_SIZE];
	format_duration(up, pong->uptime_ms);
	format_bytes(total, pong->mem_total_kib * 1024);
	format_bytes(available, pong->mem_available_kib * 1024);
	if (pong->agent_ok)
		printf("%s: answered in %u.%u ms, up %s, %s of %s free\n", vm, pong->rtt_us / 1000,
		       pong->rtt_us % 1000 / 100, up, available, total);
	for (size_t i = 0; i < ARRAY_LEN(PARTS); i++) {
		bool guest_side = i + 1 < ARRAY_LEN(PARTS);
		bool unknown = guest_side && i > 0 && !pong->agent_ok;
		bool good = is_good(pong, &PARTS[i]);
		printf("  %-6s %-6s %s\n", PARTS[i].name,
		       unknown ? "?"
		       : good  ? "ok"
		               : "BROKEN",
		       unknown ? "not known"
		       : good  ? PARTS[i].good
		               : PARTS[i].bad);
	}
	printf("%s: egress: %s%s%s\n", vm, client_pong_is_ok(pong) ? "ok" : "BROKEN",
	       pong->text[0] ? ": " : "", pong->text);
}

static int run(struct cli *cli, struct args *args)
{
	struct client_pong pong;
	struct err e = ERR_INIT;
	if (!call_ping(cli->loop, args->words[0], &pong, &e))
		return cli_error(cli, &e);
	if (args_has(args, "json"))
		print_json(args->words[0], &pong);
	else
		print_text(args->words[0], &pong);
	return client_pong_is_ok(&pong) ? CLI_OK : CLI_FAILED;
}

const struct command command_ping = {
    .name = "ping",
    .usage = "NAME [--json]",
    .summary = "ask a VM whether it lives and whether its way out works",
    .details = "Exit status 1 when any part of the way out is broken.\n",
    .options = OPTIONS,
    .min_words = 1,
    .max_words = 1,
    .run = run,
};
