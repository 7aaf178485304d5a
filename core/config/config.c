#include "core/config/config.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/escape.h"
#include "core/base/mem.h"
#include "core/egress/rule.h"

void config_init(struct config *c)
{
	*c = (struct config){
	    .defaults = {.image = "base",
	                 .backend = "auto",
	                 .memory_bytes = 512ull << 20,
	                 .disk_bytes = 4ull << 30,
	                 .cpus = 1,
	                 .ready_timeout_ms = 120000},
	    .detach_key = ']' & 0x1f,
	    .ui = {.theme.text = "default", .sort.text = "state", .clipboard.text = "auto", .mouse = true},
	};
}

void config_finish(struct config *c)
{
	for (size_t i = 0; i < c->policy_count; i++)
		free(c->policy[i]);
	c->policy_count = 0;
	for (size_t i = 0; i < c->key_count; i++) {
		free(c->keys[i].action);
		free(c->keys[i].keys);
	}
	c->key_count = 0;
}

struct load {
	struct config config;
	FILE *file;
	int line; /* that inih is at */
	struct err *e;
};

typedef bool setter(struct config *c, const char *value);

static bool set_text(char *out, size_t size, const char *value)
{
	return (size_t)snprintf(out, size, "%s", value) < size;
}

static bool set_image(struct config *c, const char *value)
{
	return set_text(c->defaults.image, sizeof(c->defaults.image), value);
}

static bool set_backend(struct config *c, const char *value)
{
	return set_text(c->defaults.backend, sizeof(c->defaults.backend), value);
}

static bool set_memory(struct config *c, const char *value)
{
	return parse_size(value, &c->defaults.memory_bytes);
}

static bool set_disk(struct config *c, const char *value)
{
	return parse_size(value, &c->defaults.disk_bytes);
}

static bool set_cpus(struct config *c, const char *value)
{
	uint64_t v;
	if (!parse_u64(value, 1, VM_CPUS_MAX, &v))
		return false;
	c->defaults.cpus = (uint32_t)v;
	return true;
}

static bool set_ready_timeout(struct config *c, const char *value)
{
	return parse_duration(value, &c->defaults.ready_timeout_ms);
}

/* "C-]": control with one of @ A-Z [ \ ] ^ _ ; C-[ is Escape, which agents need. */
static bool set_detach(struct config *c, const char *value)
{
	if (strlen(value) != 3 || value[0] != 'C' || value[1] != '-')
		return false;
	char key = value[2] >= 'a' && value[2] <= 'z' ? (char)(value[2] - 32) : value[2];
	if (key < '@' || key > '_' || key == '[')
		return false;
	c->detach_key = key & 0x1f;
	return true;
}

static bool parse_yes_no(const char *value, bool *out)
{
	bool yes = strcmp(value, "yes") == 0;
	if (!yes && strcmp(value, "no") != 0)
		return false;
	*out = yes;
	return true;
}

static bool set_mouse(struct config *c, const char *value)
{
	return parse_yes_no(value, &c->ui.mouse);
}

static bool set_ascii(struct config *c, const char *value)
{
	return parse_yes_no(value, &c->ui.ascii);
}

static bool add_policy(struct config *c, char *line)
{
	if (c->policy_count == CONFIG_LIST_MAX) {
		free(line);
		return false;
	}
	c->policy[c->policy_count++] = line;
	return true;
}

static const struct {
	const char *section, *key;
	setter *set;
} KEYS[] = {
    {"vm", "image", set_image},     {"vm", "backend", set_backend},
    {"vm", "memory", set_memory},   {"vm", "disk", set_disk},
    {"vm", "cpus", set_cpus},       {"vm", "ready_timeout", set_ready_timeout},
    {"keys", "detach", set_detach}, {"ui", "mouse", set_mouse},
    {"ui", "ascii", set_ascii},
};

/* Texts that are checked where they are used. */
static const struct {
	const char *key;
	size_t at; /* in struct config_ui */
} UI_TEXTS[] = {
    {"theme", offsetof(struct config_ui, theme)},
    {"sort", offsetof(struct config_ui, sort)},
    {"clipboard", offsetof(struct config_ui, clipboard)},
    {"copy_command", offsetof(struct config_ui, copy_command)},
    {"on_attention", offsetof(struct config_ui, on_attention)},
};

static struct config_text *find_ui_text(struct config *c, const char *section, const char *key)
{
	for (size_t i = 0; i < ARRAY_LEN(UI_TEXTS) && strcmp(section, "ui") == 0; i++) {
		if (strcmp(key, UI_TEXTS[i].key) == 0)
			return (struct config_text *)(void *)((char *)&c->ui + UI_TEXTS[i].at);
	}
	return NULL;
}

static bool add_key(struct load *load, const char *action, const char *keys)
{
	struct config *c = &load->config;
	for (size_t i = 0; i < c->key_count; i++) {
		if (strcmp(c->keys[i].action, action) == 0)
			return err_set(load->e, ERR_INVALID, "'%.40s' has its keys in line %d already",
			               action, c->keys[i].line);
	}
	if (c->key_count == CONFIG_LIST_MAX)
		return err_set(load->e, ERR_LIMIT, "more than %d keys", CONFIG_LIST_MAX);
	c->keys[c->key_count++] =
	    (struct config_key){.action = mem_strdup(action), .keys = mem_strdup(keys), .line = load->line};
	return true;
}

/* A policy line that makes no sense is named here, with its place, and not by the next `up`. */
static bool add_checked(struct load *load, char *line)
{
	struct rule rule;
	if (!rule_parse(line, strlen(line), &rule, load->e)) {
		free(line);
		return false;
	}
	return add_policy(&load->config, line) ||
	       err_set(load->e, ERR_LIMIT, "more than %d rules", CONFIG_LIST_MAX);
}

/* inih's handler: 0 makes ini_parse return this line's number. */
static int on_pair(void *arg, const char *section, const char *key, const char *value)
{
	struct load *load = arg;
	if (load->e->kind != ERR_NONE)
		return 0;
	if (strcmp(section, "resolve") == 0)
		return add_checked(load, mem_printf("resolve %s %s", key, value));
	if (strcmp(section, "egress") == 0 && (strcmp(key, "allow") == 0 || strcmp(key, "deny") == 0))
		return add_checked(load, mem_printf("%s %s", key, value));
	if (strcmp(section, "keys") == 0 && strcmp(key, "detach") != 0)
		return add_key(load, key, value);
	struct config_text *text = find_ui_text(&load->config, section, key);
	if (text) {
		text->line = load->line;
		return set_text(text->text, sizeof(text->text), value);
	}
	char shown[128];
	for (size_t i = 0; i < ARRAY_LEN(KEYS); i++) {
		if (strcmp(section, KEYS[i].section) != 0 || strcmp(key, KEYS[i].key) != 0)
			continue;
		if (KEYS[i].set(&load->config, value))
			return 1;
		escape_text(shown, sizeof(shown), value, strlen(value));
		err_set(load->e, ERR_INVALID, "bad value for %s: '%s'", key, shown);
		return 0;
	}
	escape_text(shown, sizeof(shown), key, strlen(key));
	err_set(load->e, ERR_INVALID, "unknown setting '%s' in section [%.32s]", shown, section);
	return 0;
}

/* inih does not tell its handler the line; it reads one a call, and so does this. */
static char *read_line(char *out, int size, void *arg)
{
	struct load *load = arg;
	load->line++;
	return fgets(out, size, load->file);
}

/* As ini_parse: 0, the first wrong line, or -1 when it cannot be read. */
static int parse(struct load *load, const char *path)
{
	load->file = fopen(path, "re");
	if (!load->file)
		return -1;
	int line = ini_parse_stream(read_line, load, on_pair, load);
	if (line == 0 && ferror(load->file))
		line = -1;
	fclose(load->file);
	return line;
}

bool config_load(struct config *c, const char *path, struct err *e)
{
	struct err why = ERR_INIT;
	struct load load = {.e = &why};
	config_init(&load.config);
	errno = 0;
	int line = parse(&load, path);
	if (line == -1 && errno == ENOENT) {
		config_finish(&load.config);
		config_finish(c);
		config_init(c);
		return true;
	}
	if (line != 0) {
		config_finish(&load.config);
		if (line < 0)
			return err_sys(e, errno ? errno : ENOMEM, "read %s", path);
		return err_set(e, ERR_INVALID, "%s:%d: %s", path, line,
		               why.kind ? why.msg : "not a setting, or longer than 198 characters");
	}
	struct vm_spec check = load.config.defaults;
	snprintf(check.name, sizeof(check.name), "x");
	if (!vm_spec_check(&check, &why)) {
		config_finish(&load.config);
		return err_set(e, ERR_INVALID, "%s: %s", path, why.msg);
	}
	config_finish(c);
	*c = load.config;
	return true;
}
