/* Settings while the dashboard runs: read at the start, on SIGHUP, on :reload and when a file in their folder changes. A
 * mistake in them is told and changes nothing; the dashboard goes on with what it had. */
#include <dirent.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/escape.h"
#include "core/base/mem.h"
#include "core/client/dirwatch.h"
#include "core/config/paths.h"
#include "tui/app_internal.h"
#include "tui/clipboard.h"
#include "tui/screen.h"
#include "tui/theme_file.h"

/* ---- theme ---- */

static void show_theme(struct app *a)
{
	tui_screen_set_theme(a->screen, &a->theme);
	app_changed(a);
}

/* The one of the settings comes back with the next reload. */
void app_set_theme(struct app *a, const char *name)
{
	struct err e = ERR_INIT;
	if (!theme_load(&a->theme, name, &e)) {
		dash_notice(a->dash, e.msg);
		return;
	}
	show_theme(a);
	app_notice(a, "theme", name);
}

/* ---- settings ---- */

/* A name that is not right is a mistake in our file; one in the theme's own file has its own place. */
static bool load_theme(const struct settings *s, const char *path, struct theme *out, struct err *e)
{
	const struct config_text *t = &s->config.ui.theme;
	if (theme_load(out, t->text, e))
		return true;
	if (e->kind != ERR_INVALID && t->line > 0)
		err_wrap(e, "%s:%d", path, t->line);
	return false;
}

static bool check_clipboard(const struct settings *s, const char *path, struct err *e)
{
	const struct config_text *t = &s->config.ui.clipboard;
	enum clipboard_method ignored;
	char shown[64];
	escape_text(shown, sizeof(shown), t->text, strlen(t->text));
	return clipboard_parse_method(t->text, &ignored) ||
	       err_set(e, ERR_INVALID,
	               "%s:%d: no clipboard '%s': auto, command, tmux, wl-copy, xclip, xsel, osc52 or file",
	               path, t->line, shown);
}

/* All of it or nothing. */
static bool load(struct app *a, struct err *e)
{
	struct settings fresh;
	struct theme theme = theme_default;
	settings_init(&fresh);
	bool ok = settings_load(&fresh, a->config_path, e) && check_clipboard(&fresh, a->config_path, e) &&
	          load_theme(&fresh, a->config_path, &theme, e);
	settings_finish(ok ? &a->settings : &fresh);
	if (ok) {
		a->settings = fresh;
		a->theme = theme;
	}
	return ok;
}

/* ---- when files change ---- */

static void on_config_folder(void *arg, const char *name)
{
	struct app *a = arg;
	bool themes = strcmp(name, "themes") == 0;
	if (themes) { /* another folder than the one of before, or the first */
		dirwatch_close(a->theme_watch);
		a->theme_watch = NULL;
	}
	if (!name[0] || strcmp(name, "ccvm.ini") == 0 || themes)
		app_settings_reload(a, false);
}

static void on_theme_folder(void *arg, const char *name)
{
	(void)name;
	app_settings_reload(arg, false);
}

/* The folders that are there; those that come later are found when something is read again. */
static void watch(struct app *a)
{
	struct err no_folder = ERR_INIT, no_themes = ERR_INIT; /* not there: nothing to watch */
	char *copy FREE_ON_EXIT = mem_strdup(a->config_path);
	char *folder = dirname(copy);
	char *themes FREE_ON_EXIT = paths_join(folder, "themes");
	if (!a->config_watch)
		a->config_watch = dirwatch_open(a->loop, folder, on_config_folder, a, &no_folder);
	if (!a->theme_watch)
		a->theme_watch = dirwatch_open(a->loop, themes, on_theme_folder, a, &no_themes);
}

void app_settings_reload(struct app *a, bool asked)
{
	struct err e = ERR_INIT;
	watch(a);
	if (!load(a, &e)) {
		dash_notice(a->dash, e.msg);
	} else {
		app_settings_apply(a);
		if (asked || !a->wrote_config)
			dash_notice(a->dash, "settings read again");
		a->wrote_config = a->wrote_config && asked;
	}
	app_changed(a);
}

/* ---- the clipboard, and all of it at once ---- */

static void on_clipboard_send(void *arg, const void *bytes, size_t len)
{
	tui_screen_send(((struct app *)arg)->screen, bytes, len);
}

static void on_clipboard_told(void *arg, bool done, const char *text)
{
	struct app *a = arg;
	(void)done;
	dash_notice(a->dash, text);
	app_changed(a);
}

static void open_clipboard(struct app *a)
{
	static const struct clipboard_ops OPS = {.send = on_clipboard_send, .told = on_clipboard_told};
	struct err e = ERR_INIT;
	char *folder FREE_ON_EXIT = paths_runtime_dir(&e);
	struct clipboard_spec spec = {.command = a->settings.config.ui.copy_command.text, .folder = folder};
	CHECK(clipboard_parse_method(a->settings.config.ui.clipboard.text, &spec.method));
	clipboard_destroy(a->clipboard);
	a->clipboard = clipboard_create(a->loop, &spec, &OPS, a);
}

void app_settings_apply(struct app *a)
{
	open_clipboard(a);
	const struct config_ui *ui = &a->settings.config.ui;
	tui_screen_mouse(a->screen, ui->mouse, false);
	tui_screen_ascii(a->screen, ui->ascii);
	show_theme(a);
}

/* ---- from start to end ---- */

void app_settings_open(struct app *a)
{
	struct err e = ERR_INIT;
	settings_init(&a->settings);
	a->theme = theme_default;
	a->config_path = paths_config_file();
	watch(a);
	if (!load(a, &e))
		a->first_problem = mem_strdup(e.msg);
}

void app_settings_close(struct app *a)
{
	clipboard_destroy(a->clipboard);
	dirwatch_close(a->config_watch);
	dirwatch_close(a->theme_watch);
	settings_finish(&a->settings);
	free(a->config_path);
	free(a->first_problem);
}

/* ---- names for the palette ---- */

static void offer_files(const char *folder, const char *ending, palette_offer_fn *offer, void *to)
{
	DIR *d = opendir(folder);
	for (struct dirent *entry = d ? readdir(d) : NULL; entry; entry = readdir(d)) {
		char name[256];
		size_t len = strlen(entry->d_name), end = strlen(ending);
		if (entry->d_name[0] == '.' || len <= end || strcmp(entry->d_name + len - end, ending) != 0)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(len - end), entry->d_name);
		offer(to, name);
	}
	if (d)
		closedir(d);
}

#define THEMES_OFFERED 100

struct names {
	char *all[THEMES_OFFERED]; /* owned */
	size_t count;
};

static void collect(void *arg, const char *name)
{
	struct names *n = arg;
	if (n->count < THEMES_OFFERED)
		n->all[n->count++] = mem_strdup(name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Each once: the operator's own may have the name of one that comes with ccvm, and hides it. */
static void offer_themes(palette_offer_fn *offer, void *to)
{
	struct names names = {.count = 0};
	char **folders = paths_theme_folders();
	collect(&names, "default");
	for (size_t i = 0; folders[i]; i++) {
		offer_files(folders[i], ".ini", collect, &names);
		free(folders[i]);
	}
	free(folders);
	qsort(names.all, names.count, sizeof(names.all[0]), by_name);
	for (size_t i = 0; i < names.count; i++) {
		if (i == 0 || strcmp(names.all[i], names.all[i - 1]) != 0)
			offer(to, names.all[i]);
	}
	for (size_t i = 0; i < names.count; i++)
		free(names.all[i]);
}

void app_offer_names(enum action_takes takes, palette_offer_fn *offer, void *to)
{
	char *images FREE_ON_EXIT = paths_images_dir();
	if (takes == TAKES_THEME)
		offer_themes(offer, to);
	else if (takes == TAKES_IMAGE)
		offer_files(images, "", offer, to);
	for (int i = 0; i < CLIPBOARD_METHOD_COUNT && takes == TAKES_CLIPBOARD; i++)
		offer(to, clipboard_method_name((enum clipboard_method)i));
}
