#include "core/cli/cast.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/check.h"
#include "core/term/tty.h"

#define FRAME_MAX ((size_t)64 * 1024 * 1024)

/* What a player is expected to be able to do. */
static const struct tty_caps CAPS = {.colours = 256, .truecolor = true, .underlines = true};

void cast_init(struct cast *c)
{
	*c = (struct cast){.begun = false};
	screen_init(&c->shown, 1, 2);
}

void cast_finish(struct cast *c)
{
	screen_finish(&c->shown);
}

static void put_line(cJSON *json, struct str *out)
{
	char *text = json ? cJSON_PrintUnformatted(json) : NULL;
	if (!text)
		BUG("out of memory for a line of JSON");
	str_append(out, text);
	str_append_char(out, '\n');
	cJSON_free(text);
	cJSON_Delete(json);
}

static void put_header(const struct screen *s, int64_t wall_ms, struct str *out)
{
	cJSON *o = cJSON_CreateObject();
	cJSON_AddNumberToObject(o, "version", 2);
	cJSON_AddNumberToObject(o, "width", s->cols);
	cJSON_AddNumberToObject(o, "height", s->rows);
	cJSON_AddNumberToObject(o, "timestamp", (double)(wall_ms / 1000));
	if (s->title[0])
		cJSON_AddStringToObject(o, "title", s->title);
	cJSON *env = cJSON_AddObjectToObject(o, "env");
	cJSON_AddStringToObject(env, "TERM", "xterm-256color");
	put_line(o, out);
}

static void put_event(const struct cast *c, uint64_t now_ms, const char *kind, const char *data,
                      struct str *out)
{
	cJSON *event = cJSON_CreateArray();
	cJSON_AddItemToArray(event, cJSON_CreateNumber((double)(now_ms - c->start_ms) / 1000));
	cJSON_AddItemToArray(event, cJSON_CreateString(kind));
	cJSON_AddItemToArray(event, cJSON_CreateString(data));
	put_line(event, out);
}

void cast_frame(struct cast *c, const struct screen *s, uint64_t now_ms, int64_t wall_ms, struct str *out)
{
	bool resized = c->begun && (c->shown.rows != s->rows || c->shown.cols != s->cols);
	struct buf frame = BUF_INIT(FRAME_MAX);
	if (!c->begun) {
		c->start_ms = now_ms;
		put_header(s, wall_ms, out);
	}
	if (resized) {
		char size[32];
		snprintf(size, sizeof(size), "%ux%u", s->cols, s->rows);
		put_event(c, now_ms, "r", size, out);
	}
	if (c->begun ? strcmp(c->shown.title, s->title) != 0 : s->title[0] != '\0')
		tty_title(s->title, &frame);
	tty_draw(c->begun && !resized ? &c->shown : NULL, s, s->rows, s->cols, &CAPS, &frame);
	if (frame.len > 0) {
		buf_put_u8(&frame, 0); /* cells and our own sequences hold none */
		CHECK(buf_ok(&frame));
		put_event(c, now_ms, "o", (const char *)frame.data, out);
	}
	buf_finish(&frame);
	screen_copy(&c->shown, s);
	c->begun = true;
}
