/* mkfs.ext4 on a fresh sparse file: what it does not write reads as zeros already, so neither the inode tables nor the
 * journal are written, neither here nor by the guest's kernel later (it marks the groups as zeroed). */
#include "core/backend/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/backend/program.h"
#include "core/base/escape.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/child.h"
#include "core/loop/loop.h"
#include "core/loop/stream.h"

#define ERRORS_MOST 400

struct disk_job {
	char *path, *tmp; /* owned */
	struct child *child;
	struct stream *errors; /* mkfs's stderr; NULL once it has ended */
	char text[ERRORS_MOST];
	size_t text_len;
	bool exited, canceled;
	int code, signal;
	void (*done)(void *arg, const struct err *e);
	void *arg;
};

static void destroy(struct disk_job *job)
{
	if (job->tmp)
		unlink(job->tmp);
	stream_close(job->errors, NULL, NULL);
	child_close(job->child);
	free(job->tmp);
	free(job->path);
	free(job);
}

static bool put_into_place(struct disk_job *job, struct err *e)
{
	if (job->code != 0 || job->signal != 0) {
		char text[ERRORS_MOST];
		while (job->text_len > 0 && job->text[job->text_len - 1] == '\n')
			job->text_len--;
		escape_text(text, sizeof(text), job->text, job->text_len);
		return err_set(e, ERR_SYSTEM, "create disk %s: mkfs.ext4 failed (%s %d): %s", job->path,
		               job->signal ? "signal" : "exit code", job->signal ? job->signal : job->code,
		               text);
	}
	/* link, unlike rename, does not replace what somebody put there meanwhile. */
	if (link(job->tmp, job->path) == 0)
		return true;
	if (errno == EEXIST)
		return err_set(e, ERR_EXISTS, "disk %s exists already", job->path);
	return err_sys(e, errno, "create disk %s", job->path);
}

static void finish_if_done(struct disk_job *job)
{
	if (!job->exited || (job->errors && !job->canceled))
		return;
	if (!job->canceled) {
		struct err e = ERR_INIT;
		bool ok = put_into_place(job, &e);
		job->done(job->arg, ok ? NULL : &e);
	}
	destroy(job);
}

static void on_mkfs_exit(void *arg, int code, int signum)
{
	struct disk_job *job = arg;
	job->exited = true;
	job->code = code;
	job->signal = signum;
	finish_if_done(job);
}

static void on_errors_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct disk_job *job = arg;
	size_t n = MIN(len, sizeof(job->text) - job->text_len);
	memcpy(job->text + job->text_len, bytes, n);
	job->text_len += n;
}

static void on_errors_end(void *arg)
{
	struct disk_job *job = arg;
	stream_close(job->errors, NULL, NULL);
	job->errors = NULL;
	finish_if_done(job);
}

static void on_errors_error(void *arg, const struct err *e)
{
	(void)e;
	on_errors_end(arg);
}

static const struct stream_ops errors_callbacks = {
    .on_data = on_errors_data,
    .on_eof = on_errors_end,
    .on_error = on_errors_error,
};

static bool make_sparse_file(struct disk_job *job, uint64_t size_bytes, struct err *e)
{
	struct stat st;
	if (lstat(job->path, &st) == 0)
		return err_set(e, ERR_EXISTS, "disk %s exists already", job->path);
	if (size_bytes > INT64_MAX)
		return err_set(e, ERR_LIMIT, "disk %s: too large", job->path);
	char *tmp FREE_ON_EXIT = mem_printf("%s.new-%ld", job->path, (long)getpid());
	unlink(tmp); /* of an earlier process with our number; nobody else writes in this folder */
	int fd CLOSE_ON_EXIT = open(tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_sys(e, errno, "create disk %s", job->path);
	job->tmp = mem_steal(&tmp);
	if (ftruncate(fd, (off_t)size_bytes) != 0)
		return err_sys(e, errno, "create disk %s", job->path);
	return true;
}

char *disk_find_mkfs(struct err *e)
{
	char *path = program_find("mkfs.ext4", "/usr/sbin:/sbin:/usr/local/sbin");
	if (!path)
		err_set(e, ERR_NOT_FOUND,
		        "mkfs.ext4 is in neither PATH nor /usr/sbin: install the package e2fsprogs");
	return path;
}

static bool start_mkfs(struct disk_job *job, struct loop *loop, struct err *e)
{
	char *mkfs FREE_ON_EXIT = disk_find_mkfs(e);
	if (!mkfs)
		return false;
	const char *argv[] = {
	    mkfs, "-q",     "-F", "-m", "0", "-E", "lazy_itable_init=1,lazy_journal_init=1,root_owner=0:0",
	    "--", job->tmp, NULL};
	static const char *const env[] = {"LC_ALL=C", NULL};
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return err_sys(e, errno, "pipe");
	const struct child_spec spec = {
	    .argv = argv,
	    .env = env,
	    .fds = {CHILD_FD_NULL, CHILD_FD_NULL, ends[1]},
	    .fd_count = 3,
	    .die_with_parent = true,
	};
	job->child = child_start(loop, &spec, on_mkfs_exit, job, e);
	fd_close(&ends[1]);
	if (!job->child) {
		fd_close(&ends[0]);
		return false;
	}
	job->errors = stream_open(loop, ends[0], &errors_callbacks, job, e);
	if (job->errors)
		stream_resume(job->errors);
	return job->errors != NULL;
}

struct disk_job *disk_create(struct loop *loop, const char *path, uint64_t size_bytes,
                             void (*done)(void *arg, const struct err *e), void *arg, struct err *e)
{
	struct disk_job *job = mem_alloc(sizeof(*job));
	job->path = mem_strdup(path);
	job->done = done;
	job->arg = arg;
	if (make_sparse_file(job, size_bytes, e) && start_mkfs(job, loop, e))
		return job;
	disk_cancel(job);
	return NULL;
}

void disk_cancel(struct disk_job *job)
{
	if (!job)
		return;
	job->canceled = true;
	if (!job->child || job->exited) {
		destroy(job);
		return;
	}
	child_kill(job->child, SIGKILL); /* on_mkfs_exit takes the rest away */
}
