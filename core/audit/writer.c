#include "core/audit/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/audit/reader.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"

struct audit_writer {
	int fd;
	char *path; /* owned */
	char vm[33];
	uint64_t seq; /* of the last record */
	off_t end;    /* length of the file: whole lines only */
	bool torn;    /* a failed write left bytes after `end` that could not be cut off yet */
};

/* How much of the end of a log is looked at for its last record. */
#define TAIL_SIZE (64 * 1024)

struct tail {
	uint64_t seq;
	bool last_is_bad;
};

static void on_tail_line(void *arg, const struct audit_record *r, const char *line, size_t len)
{
	struct tail *t = arg;
	(void)line;
	(void)len;
	if (r)
		t->seq = r->seq;
	t->last_is_bad = !r;
}

static bool cut_back(struct audit_writer *w)
{
	if (ftruncate(w->fd, w->end) != 0)
		return false;
	w->torn = false;
	return true;
}

static bool record_recovery(struct audit_writer *w, uint64_t bytes, const char *detail, struct err *e)
{
	struct audit_record r = {.event = AUDIT_RECOVERED, .bytes = bytes};
	audit_set_detail(&r, detail);
	return audit_write(w, &r, e);
}

/* Finds where to go on: the last sequence number and the end of the last whole line. */
static bool continue_log(struct audit_writer *w, struct err *e)
{
	struct stat st;
	if (fstat(w->fd, &st) != 0)
		return err_sys(e, errno, "stat %s", w->path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_INVALID, "%s is not a regular file", w->path);
	off_t from = st.st_size > TAIL_SIZE ? st.st_size - TAIL_SIZE : 0;
	char *bytes FREE_ON_EXIT = mem_alloc(TAIL_SIZE);
	ssize_t n = pread(w->fd, bytes, TAIL_SIZE, from);
	if (n != (ssize_t)(st.st_size - from))
		return err_sys(e, n < 0 ? errno : EIO, "read %s", w->path);
	struct tail tail = {0};
	struct audit_reader reader;
	audit_reader_init(&reader, on_tail_line, &tail);
	const char *last = memrchr(bytes, '\n', (size_t)n);
	size_t whole = last ? (size_t)(last - bytes) + 1 : 0;
	if (!last && from > 0)
		return err_set(e, ERR_INVALID, "%s is not an audit log: no line ends in its last %d bytes",
		               w->path, TAIL_SIZE);
	audit_reader_feed(&reader, bytes, whole);
	w->seq = tail.seq;
	w->end = from + (off_t)whole;
	uint64_t torn = (uint64_t)n - whole;
	if (torn == 0 && !tail.last_is_bad)
		return true;
	if (!cut_back(w))
		return err_sys(e, errno, "cut the torn last line off %s", w->path);
	if (tail.last_is_bad)
		return record_recovery(w, torn, "the last whole line is not a record", e);
	return record_recovery(w, torn, "the last line had no end", e);
}

struct audit_writer *audit_writer_open(const char *path, const char *vm, struct err *e)
{
	int fd =
	    open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0600);
	if (fd < 0) {
		err_sys(e, errno, "open audit log %s", path);
		return NULL;
	}
	struct audit_writer *w = mem_alloc(sizeof(*w));
	w->fd = fd;
	w->path = mem_strdup(path);
	snprintf(w->vm, sizeof(w->vm), "%s", vm);
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno == EWOULDBLOCK)
			err_set(e, ERR_BUSY, "audit log %s is written by another process", path);
		else
			err_sys(e, errno, "lock audit log %s", path);
		audit_writer_close(w);
		return NULL;
	}
	if (!continue_log(w, e)) {
		audit_writer_close(w);
		return NULL;
	}
	return w;
}

bool audit_write(struct audit_writer *w, struct audit_record *r, struct err *e)
{
	char line[AUDIT_LINE_MAX + 1];
	if (w->torn && !cut_back(w))
		return err_sys(e, errno, "cut a torn line off %s", w->path);
	r->seq = w->seq + 1;
	r->t_ms = clock_wall_ms();
	snprintf(r->vm, sizeof(r->vm), "%s", w->vm);
	size_t len = audit_format(r, line);
	ssize_t n;
	do
		n = write(w->fd, line, len);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)len) {
		w->seq++;
		w->end += n;
		return true;
	}
	int why = n < 0 ? errno : ENOSPC; /* a short write to a file means that the room ended */
	if (n > 0) {
		w->torn = true;
		cut_back(w); /* if not now, then before the next record */
	}
	return err_sys(e, why, "write audit log %s", w->path);
}

void audit_writer_sync(struct audit_writer *w)
{
	fdatasync(w->fd);
}

int audit_writer_fd(const struct audit_writer *w)
{
	return w->fd;
}

void audit_writer_close(struct audit_writer *w)
{
	if (!w)
		return;
	if (w->torn)
		cut_back(w);
	fdatasync(w->fd);
	fd_close(&w->fd);
	free(w->path);
	free(w);
}
