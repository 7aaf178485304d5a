/* cJSON reads past the end of texts that are not NUL-terminated (CVE-2023-53154) and recurses up to a thousand levels,
 * so a line is copied with a NUL behind it, and its nesting is measured first. */
#include "core/backend/qmp.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "core/base/buf.h"
#include "core/base/escape.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/loop/stream.h"

#define WAITING_MOST 8

/* Depth of brackets outside of texts; SIZE_MAX when a bracket or a text is not closed, or a text holds an escaped NUL,
 * at which cJSON would cut it. */
static size_t nesting(const char *s, size_t len)
{
	size_t depth = 0, deepest = 0;
	bool in_text = false;
	for (size_t i = 0; i < len; i++) {
		if (in_text) {
			if (len - i >= 6 && memcmp(s + i, "\\u0000", 6) == 0)
				return SIZE_MAX;
			if (s[i] == '\\')
				i++;
			else if (s[i] == '"')
				in_text = false;
		} else if (s[i] == '"') {
			in_text = true;
		} else if (s[i] == '{' || s[i] == '[') {
			depth++;
			deepest = MAX(deepest, depth);
		} else if (s[i] == '}' || s[i] == ']') {
			if (depth-- == 0)
				return SIZE_MAX;
		}
	}
	return depth == 0 && !in_text ? deepest : SIZE_MAX;
}

static void copy_text(char *out, size_t size, const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	out[0] = '\0';
	if (cJSON_IsString(item))
		escape_text(out, size, item->valuestring, strlen(item->valuestring));
}

static bool parse_event(const cJSON *root, const cJSON *event, struct qmp_message *m, struct err *e)
{
	const char *name = cJSON_IsString(event) ? event->valuestring : "";
	size_t len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	if (len == 0 || name[len] != '\0' || len >= sizeof(m->event))
		return err_set(e, ERR_PROTOCOL, "QMP event without a proper name");
	m->kind = QMP_EVENT;
	memcpy(m->event, name, len + 1);
	copy_text(m->reason, sizeof(m->reason), cJSON_GetObjectItemCaseSensitive(root, "data"), "reason");
	return true;
}

static bool parse_object(const cJSON *root, struct qmp_message *m, struct err *e)
{
	const cJSON *event = cJSON_GetObjectItemCaseSensitive(root, "event");
	const cJSON *error = cJSON_GetObjectItemCaseSensitive(root, "error");
	const cJSON *greeting = cJSON_GetObjectItemCaseSensitive(root, "QMP");
	if (event)
		return parse_event(root, event, m, e);
	if (cJSON_IsObject(error)) {
		m->kind = QMP_ERROR;
		copy_text(m->detail, sizeof(m->detail), error, "desc");
		return true;
	}
	if (cJSON_IsObject(greeting)) {
		m->kind = QMP_GREETING;
		const cJSON *version = cJSON_GetObjectItemCaseSensitive(greeting, "version");
		copy_text(m->detail, sizeof(m->detail), version, "package");
		return true;
	}
	if (cJSON_GetObjectItemCaseSensitive(root, "return")) {
		m->kind = QMP_RETURN;
		return true;
	}
	return err_set(e, ERR_PROTOCOL, "QMP message of no known kind");
}

bool qmp_parse(const char *line, size_t len, struct qmp_message *out, struct err *e)
{
	if (len > QMP_LINE_MOST)
		return err_set(e, ERR_LIMIT, "QMP line of %zu bytes", len);
	if (memchr(line, '\0', len))
		return err_set(e, ERR_PROTOCOL, "QMP line with a NUL in it");
	if (nesting(line, len) > QMP_DEPTH_MOST)
		return err_set(e, ERR_PROTOCOL, "QMP line with unbalanced or too many brackets");
	char *text FREE_ON_EXIT = mem_alloc(len + 1);
	memcpy(text, line, len);
	cJSON *root = cJSON_ParseWithOpts(text, NULL, true);
	struct qmp_message m = {.kind = QMP_RETURN};
	bool ok = cJSON_IsObject(root) ? parse_object(root, &m, e)
	                               : err_set(e, ERR_PROTOCOL, "QMP line that is no JSON object");
	cJSON_Delete(root);
	if (ok)
		*out = m;
	return ok;
}

struct qmp {
	struct stream *stream;
	struct buf in; /* an unfinished line */
	const struct qmp_ops *ops;
	void *arg;
	bool greeted, ready, broken;
	bool busy, closed; /* a callback runs; it has closed this */
	const char *waiting[WAITING_MOST];
	size_t waiting_count;
};

static void fail(struct qmp *q, const struct err *e)
{
	if (q->broken)
		return;
	q->broken = true;
	stream_pause(q->stream);
	q->ops->on_broken(q->arg, e);
}

static void put_command(struct qmp *q, const char *command)
{
	struct buf out = BUF_INIT(256);
	buf_put(&out, "{\"execute\":\"", 12);
	buf_put(&out, command, strlen(command));
	buf_put(&out, "\"}\n", 3);
	CHECK(buf_ok(&out));
	if (!stream_send(q->stream, out.data, out.len))
		log_warn("QEMU does not read its monitor; \"%s\" is lost", command);
	buf_finish(&out);
}

static void become_ready(struct qmp *q)
{
	q->ready = true;
	for (size_t i = 0; i < q->waiting_count; i++)
		put_command(q, q->waiting[i]);
	q->waiting_count = 0;
}

/* False: the phase does not allow this message. */
static bool handle(struct qmp *q, const struct qmp_message *m)
{
	switch (m->kind) {
	case QMP_GREETING:
		if (q->greeted)
			return false;
		q->greeted = true;
		put_command(q, "qmp_capabilities");
		return true;
	case QMP_RETURN:
		if (q->greeted && !q->ready)
			become_ready(q);
		else if (q->ready && q->ops->on_done)
			q->ops->on_done(q->arg);
		return q->greeted;
	case QMP_ERROR:
		if (!q->ready)
			return false; /* it refused the capabilities: there will be no events */
		log_warn("QEMU refused a command: %s", m->detail);
		if (q->ops->on_done)
			q->ops->on_done(q->arg);
		return true;
	case QMP_EVENT:
		if (q->greeted)
			q->ops->on_event(q->arg, m);
		return q->greeted;
	}
	return false;
}

static void destroy(struct qmp *q)
{
	buf_finish(&q->in);
	free(q);
}

/* One line. False: nothing more is to be read, and q may be gone. */
static bool take_line(struct qmp *q, const char *line, size_t len)
{
	struct err e = ERR_INIT;
	struct qmp_message m;
	if (len > 0 && line[len - 1] == '\r')
		len--;
	if (!qmp_parse(line, len, &m, &e)) {
		fail(q, &e);
		return false;
	}
	q->busy = true;
	bool allowed = handle(q, &m);
	q->busy = false;
	if (q->closed) {
		destroy(q);
		return false;
	}
	if (allowed)
		return true;
	err_set(&e, ERR_PROTOCOL, "QMP message at the wrong time");
	fail(q, &e);
	return false;
}

static void on_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct qmp *q = arg;
	buf_put(&q->in, bytes, len);
	if (!buf_ok(&q->in)) {
		struct err e = ERR_INIT;
		err_set(&e, ERR_LIMIT, "QMP line over %d bytes", QMP_LINE_MOST);
		fail(q, &e);
		return;
	}
	size_t done = 0;
	for (;;) {
		const uint8_t *start = q->in.data + done;
		const uint8_t *end = memchr(start, '\n', q->in.len - done);
		if (!end)
			break;
		if (!take_line(q, (const char *)start, (size_t)(end - start)))
			return;
		done += (size_t)(end - start) + 1;
	}
	buf_drop(&q->in, done);
}

static void on_eof(void *arg)
{
	struct err e = ERR_INIT;
	err_set(&e, ERR_GONE, "QEMU closed its monitor");
	fail(arg, &e);
}

static void on_error(void *arg, const struct err *e)
{
	struct err gone = ERR_INIT;
	err_set(&gone, ERR_GONE, "QEMU monitor: %s", e->msg);
	fail(arg, &gone);
}

static const struct stream_ops stream_callbacks = {
    .on_data = on_data,
    .on_eof = on_eof,
    .on_error = on_error,
};

struct qmp *qmp_open(struct loop *loop, int fd, const struct qmp_ops *ops, void *arg, struct err *e)
{
	struct qmp *q = mem_alloc(sizeof(*q));
	q->ops = ops;
	q->arg = arg;
	buf_init(&q->in, 2 * QMP_LINE_MOST);
	q->stream = stream_open(loop, fd, &stream_callbacks, q, e);
	if (!q->stream) {
		free(q);
		return NULL;
	}
	stream_resume(q->stream);
	return q;
}

void qmp_send(struct qmp *q, const char *command)
{
	if (q->broken)
		return;
	if (q->ready)
		put_command(q, command);
	else if (q->waiting_count < WAITING_MOST)
		q->waiting[q->waiting_count++] = command;
}

void qmp_close(struct qmp *q)
{
	if (!q)
		return;
	stream_close(q->stream, NULL, NULL);
	q->closed = true;
	if (!q->busy)
		destroy(q);
}
