#include "tui/theme_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/check.h"
#include "core/base/escape.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/parse.h"
#include "core/config/paths.h"
#include "core/term/cells.h"

#define LINE_MOST 256

static const char *const COLOURS[] = {"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"};

static const struct {
	const char *name;
	uint16_t attr;
} ATTRS[] = {
    {"bold", CELL_BOLD},       {"dim", CELL_DIM},
    {"italic", CELL_ITALIC},   {"underline", UNDERLINE_SINGLE << CELL_UNDERLINE_SHIFT},
    {"reverse", CELL_REVERSE}, {"strike", CELL_STRIKE},
};

static bool parse_rgb(const char *word, uint32_t *colour)
{
	if (strlen(word) != 7 || strspn(word + 1, "0123456789abcdefABCDEF") != 6)
		return false;
	*colour = COLOUR_RGB(0, 0, 0) | (uint32_t)strtoul(word + 1, NULL, 16);
	return true;
}

static bool parse_colour(const char *word, uint32_t *colour)
{
	static const char BRIGHT[] = "bright-";
	uint64_t index;
	if (strcmp(word, "default") == 0) {
		*colour = COLOUR_DEFAULT;
		return true;
	}
	if (word[0] == '#')
		return parse_rgb(word, colour);
	if (parse_u64(word, 0, 255, &index)) {
		*colour = COLOUR_INDEXED(index);
		return true;
	}
	bool bright = strncmp(word, BRIGHT, sizeof(BRIGHT) - 1) == 0;
	for (size_t i = 0; i < ARRAY_LEN(COLOURS); i++)
		if (strcmp(word + (bright ? sizeof(BRIGHT) - 1 : 0), COLOURS[i]) == 0) {
			*colour = COLOUR_INDEXED(i + (bright ? 8 : 0));
			return true;
		}
	return false;
}

static bool parse_attr(const char *word, uint16_t *attrs)
{
	for (size_t i = 0; i < ARRAY_LEN(ATTRS); i++)
		if (strcmp(word, ATTRS[i].name) == 0) {
			*attrs |= ATTRS[i].attr;
			return true;
		}
	return false;
}

/* `value` is cut into words. On failure *bad is the word that is wrong, "" when one is missing. */
static bool parse_look(char *value, struct theme_look *look, const char **bad)
{
	char *save = NULL, *word = strtok_r(value, " \t", &save);
	*look = (struct theme_look){0};
	*bad = "";
	if (word && parse_colour(word, &look->fg))
		word = strtok_r(NULL, " \t", &save);
	if (word && strcmp(word, "on") == 0) {
		word = strtok_r(NULL, " \t", &save);
		if (!word)
			return false;
		*bad = word;
		if (!parse_colour(word, &look->bg))
			return false;
		word = strtok_r(NULL, " \t", &save);
	}
	for (; word; word = strtok_r(NULL, " \t", &save)) {
		*bad = word;
		if (!parse_attr(word, &look->attrs))
			return false;
	}
	return true;
}

static char *trim(char *text)
{
	text += strspn(text, " \t");
	size_t len = strlen(text);
	while (len > 0 && strchr(" \t\r", text[len - 1]))
		text[--len] = '\0';
	return text;
}

/* One line, which is changed. What is wrong with it comes without its place. */
static bool parse_line(struct theme *t, char *line, bool *seen, struct err *e)
{
	char shown[64];
	const char *bad;
	char *name = trim(line), *value = strchr(name, '=');
	if (name[0] == '\0' || name[0] == '#')
		return true;
	if (!value)
		return err_set(e, ERR_INVALID, "not a line of the form NAME = LOOK");
	*value++ = '\0';
	name = trim(name);
	escape_text(shown, sizeof(shown), name, strlen(name));
	unsigned style = 0;
	while (style < STYLE_COUNT && strcmp(theme_style_name((enum theme_style)style), name) != 0)
		style++;
	if (style == STYLE_COUNT)
		return err_set(e, ERR_INVALID, "there is no style '%s'", shown);
	if (seen[style])
		return err_set(e, ERR_INVALID, "'%s' is there twice", shown);
	seen[style] = true;
	if (parse_look(value, &t->looks[style], &bad))
		return true;
	escape_text(shown, sizeof(shown), bad, strlen(bad));
	return bad[0] ? err_set(e, ERR_INVALID, "'%s' is no colour and no attribute at this place", shown)
	              : err_set(e, ERR_INVALID, "a colour is missing after 'on'");
}

bool theme_parse(struct theme *out, const char *text, size_t len, const char *path, struct err *e)
{
	struct theme theme = theme_default;
	bool seen[STYLE_COUNT] = {false};
	unsigned number = 0;
	while (len > 0) {
		struct err why = ERR_INIT;
		char line[LINE_MOST];
		const char *end = memchr(text, '\n', len);
		size_t n = end ? (size_t)(end - text) : len;
		number++;
		if (n >= sizeof(line))
			return err_set(e, ERR_INVALID, "%s:%u: longer than %d characters", path, number,
			               LINE_MOST - 1);
		memcpy(line, text, n);
		line[n] = '\0';
		if (strlen(line) < n)
			return err_set(e, ERR_INVALID, "%s:%u: a byte that is no text", path, number);
		if (!parse_line(&theme, line, seen, &why))
			return err_set(e, ERR_INVALID, "%s:%u: %s", path, number, why.msg);
		n += end ? 1 : 0;
		text += n;
		len -= n;
	}
	*out = theme;
	return true;
}

/* The first folder that has the file; NULL when none has. */
static char *find(const char *name)
{
	char **folders = paths_theme_folders(), *found = NULL;
	for (size_t i = 0; folders[i]; i++) {
		char *path = mem_printf("%s/%s.ini", folders[i], name);
		if (!found && access(path, R_OK) == 0)
			found = path;
		else
			free(path);
		free(folders[i]);
	}
	free(folders);
	return found;
}

bool theme_load(struct theme *out, const char *name, struct err *e)
{
	if (!parse_name("theme", name, e))
		return false;
	char *path FREE_ON_EXIT = find(name);
	if (!path && strcmp(name, "default") == 0) {
		*out = theme_default;
		return true;
	}
	if (!path)
		return err_set(e, ERR_NOT_FOUND, "no theme '%s'", name);
	size_t len;
	char *text FREE_ON_EXIT = fd_read_file(path, THEME_FILE_MAX, &len, e);
	return text && theme_parse(out, text, len, path, e);
}
