#include "guest/cmdline.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"

static bool copy_device(const char *text, size_t len, char out[CMDLINE_DEVICE_SIZE], struct err *e)
{
	if (!len || len >= CMDLINE_DEVICE_SIZE || strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789") < len)
		return err_set(e, ERR_INVALID, "no block device name: \"%.*s\"", (int)MIN(len, 64), text);
	memcpy(out, text, len);
	out[len] = '\0';
	return true;
}

static bool take_layers(struct cmdline *c, const char *value, struct err *e)
{
	for (const char *p = value;; p++) {
		size_t len = strcspn(p, ",");
		if (c->layer_count == CMDLINE_MOST_LAYERS)
			return err_set(e, ERR_LIMIT, "more than %d layers", CMDLINE_MOST_LAYERS);
		if (!copy_device(p, len, c->layers[c->layer_count], e))
			return false;
		c->layer_count++;
		p += len;
		if (!*p)
			return true;
	}
}

static bool take_disk(struct cmdline *c, const char *value, struct err *e)
{
	return copy_device(value, strlen(value), c->disk, e);
}

static bool take_name(struct cmdline *c, const char *value, struct err *e)
{
	if (!parse_name("VM name", value, e))
		return false;
	memcpy(c->name, value, strlen(value) + 1);
	return true;
}

static bool take_time(struct cmdline *c, const char *value, struct err *e)
{
	if (!parse_u64(value, 1, INT32_MAX * 4ull, &c->time_s))
		return err_set(e, ERR_INVALID, "no time in seconds: \"%.64s\"", value);
	return true;
}

static bool take_probe(struct cmdline *c, const char *value, struct err *e)
{
	(void)value;
	(void)e;
	c->probe = true;
	return true;
}

static const struct {
	const char *name;
	bool (*take)(struct cmdline *c, const char *value, struct err *e);
} WORDS[] = {
    {"ccvm.layers=", take_layers}, {"ccvm.disk=", take_disk},  {"ccvm.name=", take_name},
    {"ccvm.time=", take_time},     {"ccvm.probe", take_probe},
};

static bool take_word(struct cmdline *c, const char *word, struct err *e)
{
	if (strncmp(word, "ccvm.", 5) != 0)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(WORDS); i++) {
		size_t len = strlen(WORDS[i].name);
		bool has_value = WORDS[i].name[len - 1] == '=';
		if (strncmp(word, WORDS[i].name, len) == 0 && (has_value || !word[len]))
			return WORDS[i].take(c, word + len, e);
	}
	return err_set(e, ERR_INVALID, "unknown kernel argument \"%.64s\"", word);
}

bool cmdline_parse(const char *text, struct cmdline *out, struct err *e)
{
	struct cmdline c = {0};
	char *copy FREE_ON_EXIT = mem_strdup(text);
	char *save = NULL;
	for (char *word = strtok_r(copy, " \t\r\n", &save); word; word = strtok_r(NULL, " \t\r\n", &save)) {
		if (!take_word(&c, word, e))
			return err_wrap(e, "kernel command line");
	}
	if (!c.probe && (!c.layer_count || !c.disk[0] || !c.name[0]))
		return err_set(e, ERR_INVALID,
		               "kernel command line: ccvm.layers, ccvm.disk or ccvm.name is missing");
	*out = c;
	return true;
}
