/* Plays a recording (asciicast v2, standard input) in an emulator of ours and prints the screen at its end, as `ccvm screen --ansi`
 * does. Fails on the first line that is not what the format says. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/term/emulator.h"
#include "core/term/snapshot.h"
#include "core/term/tty.h"

static void die(const char *what, const char *line)
{
	fprintf(stderr, "play_cast: %s: %.200s\n", what, line);
	exit(1);
}

static struct emulator *begin(const char *line)
{
	cJSON *o = cJSON_Parse(line);
	const cJSON *version = cJSON_GetObjectItem(o, "version");
	const cJSON *width = cJSON_GetObjectItem(o, "width"), *height = cJSON_GetObjectItem(o, "height");
	if (!version || version->valueint != 2 || !width || !height)
		die("no header", line);
	struct emulator *e =
	    emulator_create((unsigned)height->valueint, (unsigned)width->valueint, NULL, NULL);
	cJSON_Delete(o);
	return e;
}

static void play(struct emulator *e, const char *line, double *time)
{
	cJSON *a = cJSON_Parse(line);
	const cJSON *at = cJSON_GetArrayItem(a, 0), *kind = cJSON_GetArrayItem(a, 1);
	const cJSON *data = cJSON_GetArrayItem(a, 2);
	unsigned rows, cols;
	if (cJSON_GetArraySize(a) != 3 || !cJSON_IsNumber(at) || !cJSON_IsString(kind) ||
	    !cJSON_IsString(data) || at->valuedouble < *time)
		die("no event", line);
	*time = at->valuedouble;
	if (strcmp(kind->valuestring, "o") == 0)
		emulator_write(e, data->valuestring, strlen(data->valuestring));
	else if (strcmp(kind->valuestring, "r") == 0 && sscanf(data->valuestring, "%ux%u", &cols, &rows) == 2)
		emulator_resize(e, rows, cols);
	else
		die("no such event", line);
	cJSON_Delete(a);
}

int main(void)
{
	static const struct tty_caps CAPS = {.colours = 256, .truecolor = true};
	struct snapshot_cursor cursor = {0};
	struct buf update = BUF_INIT(8 << 20), text = BUF_INIT(8 << 20);
	struct screen screen;
	struct err err = ERR_INIT;
	char *line = NULL;
	size_t size = 0;
	double time = 0;
	if (getline(&line, &size, stdin) <= 0)
		die("empty", "");
	struct emulator *e = begin(line);
	while (getline(&line, &size, stdin) > 0)
		play(e, line, &time);
	screen_init(&screen, 1, 2);
	if (!snapshot_encode(e, &cursor, 8 << 20, &update) ||
	    !snapshot_apply(&screen, (struct bytes){update.data, update.len}, &err))
		die("no screen", err.msg);
	tty_dump(&screen, &CAPS, &text);
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] != '\r')
			putchar(text.data[i]);
	}
	return 0;
}
