#include "tui/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/list.h"
#include "core/base/mem.h"
#include "core/loop/child.h"
#include "core/loop/stream.h"
#include "core/term/unicode.h"

#define LINE_SIZE  400
#define LINES_MOST 40 /* of each job, the newest */
#define ARGV_MOST  80

struct job {
	struct list link;
	struct jobs *jobs;
	uint32_t id;
	char *what;            /* owned; the command up to its options: what it says counts more */
	char *command;         /* owned; all of it */
	struct child *child;   /* owned; NULL once it has ended */
	struct stream *stream; /* owned; its output, NULL once that has ended */
	char lines[LINES_MOST][LINE_SIZE];
	size_t line_count;    /* of all; the newest LINES_MOST are kept */
	char part[LINE_SIZE]; /* of a line that has no end yet */
	size_t part_len;
	int code, signal;
	int64_t started_ms;
	bool ended; /* and was told */
};

struct jobs {
	struct loop *loop;   /* keeps */
	const char *program; /* borrowed */
	const struct jobs_ops *ops;
	void *arg;
	struct list all;
	size_t kept;
	uint32_t next_id;
	struct job_info infos[JOBS_RUN_MOST];
};

struct jobs *jobs_create(struct loop *loop, const char *program, const struct jobs_ops *ops, void *arg)
{
	struct jobs *j = mem_alloc(sizeof(*j));
	*j = (struct jobs){.loop = loop,
	                   .program = program ? program : "/proc/self/exe",
	                   .ops = ops,
	                   .arg = arg,
	                   .next_id = 1};
	list_init(&j->all);
	return j;
}

static void job_free(struct job *job)
{
	list_remove(&job->link);
	job->jobs->kept--;
	child_close(job->child);
	stream_close(job->stream, NULL, NULL);
	free(job->what);
	free(job->command);
	free(job);
}

void jobs_destroy(struct jobs *j)
{
	if (!j)
		return;
	LIST_FOREACH (item, &j->all)
		job_free(LIST_ENTRY(item, struct job, link));
	free(j);
}

/* ---- what it says ---- */

static const char *last_line(const struct job *job)
{
	return job->line_count > 0 ? job->lines[(job->line_count - 1) % LINES_MOST] : "";
}

static void end_line(struct job *job)
{
	char *line = job->lines[job->line_count % LINES_MOST];
	if (utf8_printable(line, LINE_SIZE, job->part, job->part_len) > 0)
		job->line_count++;
	job->part_len = 0;
}

static void on_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct job *job = arg;
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] == '\n' || bytes[i] == '\r')
			end_line(job);
		else if (job->part_len < sizeof(job->part))
			job->part[job->part_len++] = (char)bytes[i];
	}
	job->jobs->ops->on_change(job->jobs->arg);
}

/* It has ended, and all that it said is here. */
static void end_job(struct job *job)
{
	char text[2 * LINE_SIZE];
	if (job->child || job->stream || job->ended)
		return;
	bool ok = job->code == 0 && job->signal == 0;
	const char *line = last_line(job);
	job->ended = true;
	if (ok)
		snprintf(text, sizeof(text), "%s: %s", job->what, line[0] ? line : "done");
	else if (line[0])
		snprintf(text, sizeof(text), "%s failed: %s", job->what, line);
	else
		snprintf(text, sizeof(text), "%s failed: %s %d", job->what, job->signal ? "signal" : "code",
		         job->signal ? job->signal : job->code);
	job->jobs->ops->on_end(job->jobs->arg, ok, text);
}

static void end_output(struct job *job)
{
	if (job->part_len > 0)
		end_line(job);
	stream_close(job->stream, NULL, NULL);
	job->stream = NULL;
	end_job(job);
}

static void on_eof(void *arg)
{
	end_output(arg);
}

static void on_error(void *arg, const struct err *e)
{
	(void)e;
	end_output(arg);
}

/* Its last words may still be on their way. */
static void on_exit_of(void *arg, int code, int signal)
{
	struct job *job = arg;
	job->code = code;
	job->signal = signal;
	child_close(job->child);
	job->child = NULL;
	end_job(job);
}

/* ---- starting ---- */

static char *join(const char *const *argv, bool options)
{
	struct str s = STR_INIT(4096);
	for (size_t i = 0; argv[i] && (options || strncmp(argv[i], "--", 2) != 0); i++)
		str_appendf(&s, "%s%s", i ? " " : "", argv[i]);
	return str_detach(&s);
}

static bool start_child(struct job *job, const char *const *argv, struct err *e)
{
	static const struct stream_ops STREAM = {.on_data = on_data, .on_eof = on_eof, .on_error = on_error};
	const char *all[ARGV_MOST] = {job->jobs->program};
	int ends[2];
	for (size_t i = 0; argv[i]; i++) {
		if (i + 2 >= ARGV_MOST)
			return err_set(e, ERR_LIMIT, "too many words");
		all[i + 1] = argv[i];
	}
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(e, errno, "pipe");
	struct child_spec spec = {
	    .argv = all, .fds = {CHILD_FD_NULL, ends[1], ends[1]}, .fd_count = 3, .new_session = true};
	job->stream = stream_open(job->jobs->loop, ends[0], &STREAM, job, e);
	if (job->stream)
		job->child = child_start(job->jobs->loop, &spec, on_exit_of, job, e);
	fd_close(&ends[1]);
	if (!job->child)
		return false;
	stream_resume(job->stream);
	return true;
}

static void drop_oldest_ended(struct jobs *j)
{
	LIST_FOREACH (item, &j->all) {
		struct job *job = LIST_ENTRY(item, struct job, link);
		if (job->ended) {
			job_free(job);
			return;
		}
	}
}

bool jobs_start(struct jobs *j, const char *const *argv, struct err *e)
{
	const struct job_info *ignored;
	if (jobs_running(j, &ignored) == JOBS_RUN_MOST)
		return err_set(e, ERR_LIMIT, "%d jobs run already; wait for one to end", JOBS_RUN_MOST);
	if (j->kept == JOBS_KEPT_MOST)
		drop_oldest_ended(j);
	struct job *job = mem_alloc(sizeof(*job));
	job->jobs = j;
	job->id = j->next_id++;
	job->what = join(argv, false);
	job->command = join(argv, true);
	job->started_ms = clock_wall_ms();
	list_append(&j->all, &job->link);
	j->kept++;
	if (start_child(job, argv, e))
		return true;
	err_wrap(e, "%s", job->what);
	job_free(job);
	return false;
}

/* ---- telling ---- */

size_t jobs_running(struct jobs *j, const struct job_info **out)
{
	size_t count = 0;
	LIST_FOREACH (item, &j->all) {
		struct job *job = LIST_ENTRY(item, struct job, link);
		if (job->ended || count == JOBS_RUN_MOST)
			continue;
		j->infos[count++] = (struct job_info){.id = job->id,
		                                      .what = job->what,
		                                      .line = last_line(job),
		                                      .started_ms = job->started_ms,
		                                      .running = true};
	}
	*out = j->infos;
	return count;
}

void jobs_text(const struct jobs *j, struct str *out)
{
	str_clear(out);
	LIST_FOREACH (item, &j->all) {
		const struct job *job = LIST_ENTRY(item, struct job, link);
		const char *how = !job->ended ? "runs" : job->code || job->signal ? "failed" : "done";
		str_appendf(out, "%s\t%s\n", how, job->command);
		size_t first = job->line_count > LINES_MOST ? job->line_count - LINES_MOST : 0;
		for (size_t i = first; i < job->line_count; i++)
			str_appendf(out, "\t%s\n", job->lines[i % LINES_MOST]);
		str_append(out, "\n");
	}
	if (out->len == 0)
		str_append(out, "\tNothing was done from here yet.\n");
}
