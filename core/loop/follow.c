/* The folder is watched, not the file: so a file that appears later and one that is replaced need no second mechanism.
 * Each event about the name starts the idle handle, which reads one piece per turn of the loop and stops at the end.
 * Where the system has no inotify instance left, a timer looks once a second instead. */
#include "core/loop/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/loop/life.h"
#include "core/loop/loop.h"

#define PIECE_SIZE (64 * 1024)
#define POLL_MS    1000

struct follow {
	struct life life;
	uv_fs_event_t event;
	uv_idle_t look;
	uv_timer_t poll;
	char *path; /* owned */
	char *name; /* owned: its last part */
	int fd;     /* -1 while there is no file */
	uint64_t offset;
	bool skip_line; /* in a line whose start was not seen */
	char line[FOLLOW_LINE_MAX];
	size_t line_len;
	const struct follow_ops *ops;
	void *arg;
};

static void on_gone(struct life *life)
{
	struct follow *f = CONTAINER_OF(life, struct follow, life);
	fd_close(&f->fd);
	free(f->path);
	free(f->name);
	free(f);
}

static void start_at(struct follow *f, uint64_t offset)
{
	f->offset = offset;
	f->line_len = 0;
	f->skip_line = false;
	char before = '\n';
	if (offset > 0 && pread(f->fd, &before, 1, (off_t)(offset - 1)) == 1)
		f->skip_line = before != '\n';
}

/* Opens the file that is there now. `wanted` beyond its end means its end. */
static void open_file(struct follow *f, uint64_t wanted)
{
	struct stat st;
	f->fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (f->fd < 0)
		return;
	if (fstat(f->fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		fd_close(&f->fd);
		return;
	}
	start_at(f, MIN(wanted, (uint64_t)st.st_size));
}

static void give_line(struct follow *f)
{
	if (!f->skip_line)
		f->ops->on_line(f->arg, f->line, f->line_len);
	f->skip_line = false;
	f->line_len = 0;
}

static void take_bytes(struct follow *f, const char *bytes, size_t len)
{
	while (len > 0 && !f->life.closing) {
		const char *newline = memchr(bytes, '\n', len);
		size_t part = newline ? (size_t)(newline - bytes) : len;
		size_t room = f->skip_line ? 0 : FOLLOW_LINE_MAX - f->line_len;
		memcpy(f->line + f->line_len, bytes, MIN(part, room));
		f->line_len += MIN(part, room);
		if (newline)
			give_line(f);
		part += newline != NULL;
		bytes += part;
		len -= part;
	}
}

/* One piece; true while there may be more. */
static bool read_piece(struct follow *f)
{
	uv_buf_t b;
	loop_alloc((uv_handle_t *)&f->look, 0, &b); /* used up within this call */
	ssize_t n = f->fd < 0 ? 0 : pread(f->fd, b.base, MIN(b.len, PIECE_SIZE), (off_t)f->offset);
	if (n <= 0)
		return false;
	f->offset += (uint64_t)n;
	take_bytes(f, b.base, (size_t)n);
	return true;
}

static void restart(struct follow *f)
{
	if (f->ops->on_restart)
		f->ops->on_restart(f->arg);
}

/* At the end of what we have open: is it still the file of that name, and not shorter than what we have read?
 * True when there is something new to read. */
static bool check_identity(struct follow *f)
{
	struct stat here, there;
	if (stat(f->path, &there) != 0)
		return false; /* renamed away: the old one may still grow */
	if (f->fd < 0) {
		open_file(f, FOLLOW_START);
		return f->fd >= 0;
	}
	if (fstat(f->fd, &here) != 0)
		return false;
	if (here.st_ino != there.st_ino || here.st_dev != there.st_dev) {
		fd_close(&f->fd);
		open_file(f, FOLLOW_START);
	} else if ((uint64_t)here.st_size < f->offset) {
		start_at(f, FOLLOW_START);
	} else {
		return false;
	}
	restart(f);
	return f->fd >= 0;
}

static void on_look(uv_idle_t *look)
{
	struct follow *f = CONTAINER_OF(look->data, struct follow, life);
	if (f->life.closing)
		return;
	life_hold(&f->life); /* a callback may close us */
	bool more = read_piece(f) || (!f->life.closing && check_identity(f));
	if (!f->life.closing && !more) {
		uv_idle_stop(look);
		if (f->ops->on_caught_up)
			f->ops->on_caught_up(f->arg);
	}
	life_drop(&f->life);
}

static void look_soon(struct follow *f)
{
	uv_idle_start(&f->look, on_look);
}

static void on_poll(uv_timer_t *timer)
{
	look_soon(CONTAINER_OF(timer->data, struct follow, life));
}

static void on_event(uv_fs_event_t *event, const char *filename, int events, int status)
{
	struct follow *f = CONTAINER_OF(event->data, struct follow, life);
	(void)events;
	if (f->life.closing || status != 0)
		return;
	if (!filename || strcmp(filename, f->name) == 0)
		look_soon(f);
}

struct follow *follow_open(struct loop *loop, const char *path, uint64_t offset, const struct follow_ops *ops,
                           void *arg, struct err *e)
{
	char *for_dir FREE_ON_EXIT = mem_strdup(path);
	char *for_name FREE_ON_EXIT = mem_strdup(path);
	const char *dir = dirname(for_dir);
	struct stat st;
	if (stat(dir, &st) != 0) {
		err_sys(e, errno, "follow %s", path);
		return NULL;
	}
	struct follow *f = mem_alloc(sizeof(*f));
	life_init(&f->life, on_gone);
	f->path = mem_strdup(path);
	f->name = mem_strdup(basename(for_name));
	f->fd = -1;
	f->ops = ops;
	f->arg = arg;
	uv_fs_event_init(loop_uv(loop), &f->event);
	life_adopt(&f->life, (uv_handle_t *)&f->event);
	uv_idle_init(loop_uv(loop), &f->look);
	life_adopt(&f->life, (uv_handle_t *)&f->look);
	uv_timer_init(loop_uv(loop), &f->poll);
	life_adopt(&f->life, (uv_handle_t *)&f->poll);
	int r = uv_fs_event_start(&f->event, on_event, dir, 0);
	if (r != 0) {
		log_warn("watch %s: %s; looking at it every %d ms", dir, uv_strerror(r), POLL_MS);
		uv_timer_start(&f->poll, on_poll, POLL_MS, POLL_MS);
	}
	open_file(f, offset);
	look_soon(f);
	return f;
}

void follow_close(struct follow *f)
{
	if (!f || f->life.closing)
		return;
	life_close_handle(&f->life, (uv_handle_t *)&f->event);
	life_close_handle(&f->life, (uv_handle_t *)&f->look);
	life_close_handle(&f->life, (uv_handle_t *)&f->poll);
	life_end(&f->life);
}
