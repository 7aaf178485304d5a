/* Method: the plan says what has to be made; its steps run one after the other, each from a timer of its own,
 * so that the loop (and the progress on the screen) goes on between them. All work is done in one folder
 * beside the image, which takes the image's place with a single rename, or goes away. */
#include "core/image/build.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/escape.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/image/plan.h"
#include "core/loop/child.h"
#include "core/loop/stream.h"
#include "core/loop/timer.h"

#define LINE_MOST 400
#define OUTPUT_MS 300 /* how long after its end a command's last words may take */
/* No file of an image is younger: the same packages give the same image. */
#define FIXED_TIME   "SOURCE_DATE_EPOCH=1735689600"
#define STEPS_AROUND 1 /* besides the plan's own: putting the image in place */

struct image_build {
	struct loop *loop;
	struct plan plan;
	struct image old;           /* has no name when there is none to rely on */
	char *image_dir, *log_path; /* owned */
	int lock_fd, log_fd;
	char **env; /* owned array and texts: of the commands */
	size_t at;  /* the step that runs or comes next */
	unsigned done_steps, all_steps;
	struct timer *next;
	struct child *child;
	struct stream *output;
	bool child_exited, canceled, finished;
	int exit_code, exit_signal;
	struct str line;            /* the unfinished one */
	char last_line[LINE_MOST];  /* escaped */
	char error_line[LINE_MOST]; /* the last that says that it is an error */
	void (*on_progress)(void *arg, unsigned step, unsigned steps, const char *line);
	void (*on_done)(void *arg, bool reused, const struct err *e);
	void *arg;
};

static void free_env(char **env)
{
	for (size_t i = 0; env && env[i]; i++)
		free(env[i]);
	free(env);
}

/* This process's own, but in English and at a fixed time. */
static char **build_env(void)
{
	static const char *const FIXED[] = {"LC_ALL=C", FIXED_TIME, "DEBIAN_FRONTEND=noninteractive"};
	size_t n = 0, count = 0;
	while (environ[n])
		n++;
	char **env = mem_array(n + ARRAY_LEN(FIXED) + 1, sizeof(*env));
	for (size_t i = 0; i < n; i++) {
		bool replaced = false;
		for (size_t k = 0; k < ARRAY_LEN(FIXED); k++)
			replaced |= strncmp(environ[i], FIXED[k], strcspn(FIXED[k], "=") + 1) == 0;
		if (!replaced)
			env[count++] = mem_strdup(environ[i]);
	}
	for (size_t k = 0; k < ARRAY_LEN(FIXED); k++)
		env[count++] = mem_strdup(FIXED[k]);
	return env;
}

static void tell(struct image_build *b, const char *text)
{
	if (b->on_progress)
		b->on_progress(b->arg, b->done_steps, b->all_steps, text);
}

/* ---- the end ---- */

static void release_step(struct image_build *b)
{
	stream_close(b->output, NULL, NULL);
	b->output = NULL;
	child_close(b->child);
	b->child = NULL;
}

static void finish(struct image_build *b, bool reused, const struct err *e)
{
	struct err ignored = ERR_INIT;
	b->finished = true;
	release_step(b);
	if (!fd_remove_tree(b->plan.work, &ignored))
		err_clear(&ignored); /* the next build tries again */
	fd_close(&b->lock_fd);
	b->on_done(b->arg, reused, e);
}

/* The new folder in the old one's place, at once where the file system can; the old one is then what goes
 * away. */
static bool put_in_place(struct image_build *b, struct err *e)
{
	const char *work = b->plan.work, *final = b->image_dir;
	if (renameat2(AT_FDCWD, work, AT_FDCWD, final, RENAME_EXCHANGE) == 0)
		return true;
	if (errno == ENOENT && rename(work, final) == 0)
		return true;
	if (access(final, F_OK) != 0)
		return err_sys(e, errno, "rename %s to %s", work, final);
	return fd_remove_tree(final, e) && (rename(work, final) == 0 || err_sys(e, errno, "rename %s", work));
}

static bool install(struct image_build *b, struct err *e)
{
	char *scratch FREE_ON_EXIT = mem_printf("%s/scratch", b->plan.work);
	char *images FREE_ON_EXIT =
	    mem_printf("%.*s", (int)(strrchr(b->image_dir, '/') - b->image_dir), b->image_dir);
	struct image made = {0};
	tell(b, "image: put into place");
	if (!plan_complete(&b->plan, b->old.dir ? &b->old : NULL, e) || !fd_remove_tree(scratch, e) ||
	    !put_in_place(b, e))
		return false;
	/* Notes the parts as verified, so that the first VM does not have to. */
	bool ok = image_load(images, b->plan.name, &made, e) && image_verify(&made, false, e);
	image_finish(&made);
	return ok;
}

/* ---- one step ---- */

static void step_done(struct image_build *b, struct err *e)
{
	const struct step *s = &PLAN_STEPS[b->at];
	release_step(b);
	if (b->canceled && e->kind == ERR_NONE)
		err_set(e, ERR_CANCELED, "the build was stopped");
	if (e->kind == ERR_NONE && s->after)
		s->after(&b->plan, e);
	if (e->kind != ERR_NONE) {
		err_wrap(e, "%s", s->title);
		finish(b, false, e);
		return;
	}
	b->at++;
	b->done_steps++;
	timer_once(b->next, 0);
}

static void command_done(struct image_build *b)
{
	const struct step *s = &PLAN_STEPS[b->at];
	const char *last = b->error_line[0] ? b->error_line : b->last_line;
	struct err e = ERR_INIT;
	timer_stop(b->next);
	if (b->exit_signal)
		err_set(&e, ERR_INTERNAL, "the command from %s was ended by signal %d", s->package,
		        b->exit_signal);
	else if (b->exit_code)
		err_set(&e, ERR_INTERNAL, "%s%s(exit %d; all of its output is in %s)", last,
		        last[0] ? " " : "", b->exit_code, b->log_path);
	if (b->canceled)
		err_clear(&e);
	step_done(b, &e);
}

static void end_line(struct image_build *b)
{
	char safe[LINE_MOST];
	if (!b->line.len)
		return;
	escape_text(safe, sizeof(safe), b->line.s, b->line.len);
	str_clear(&b->line);
	snprintf(b->last_line, sizeof(b->last_line), "%s", safe);
	if (strncmp(safe, "E:", 2) == 0 || strncmp(safe, "FATAL", 5) == 0)
		snprintf(b->error_line, sizeof(b->error_line), "%s", safe);
	tell(b, safe);
}

static void on_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct image_build *b = arg;
	if (!fd_write_all(b->log_fd, bytes, len))
		b->last_line[0] = '\0'; /* a full disk: the command will say so too */
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] == '\n' || bytes[i] == '\r')
			end_line(b);
		else if (b->line.len < b->line.max)
			str_append_char(&b->line, (char)bytes[i]);
	}
}

static void on_eof(void *arg)
{
	struct image_build *b = arg;
	end_line(b);
	stream_close(b->output, NULL, NULL);
	b->output = NULL;
	if (b->child_exited)
		command_done(b);
}

static void on_read_error(void *arg, const struct err *e)
{
	(void)e;
	on_eof(arg);
}

static const struct stream_ops OUTPUT_OPS = {.on_data = on_data, .on_eof = on_eof, .on_error = on_read_error};

static void on_exit_of_command(void *arg, int code, int signum)
{
	struct image_build *b = arg;
	b->child_exited = true;
	b->exit_code = code;
	b->exit_signal = signum;
	if (b->output)
		timer_once(b->next, OUTPUT_MS); /* something that it left behind may hold the pipe */
	else
		command_done(b);
}

/* Standard input and output as files where the step wants so; the rest of the output is ours to read. */
static bool open_files(const struct command *c, int fds[3], int *output, struct err *e)
{
	int pipe_fds[2];
	if (c->in && (fds[0] = open(c->in, O_RDONLY | O_CLOEXEC)) < 0)
		return err_sys(e, errno, "open %s", c->in);
	if (c->out && (fds[1] = open(c->out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) < 0)
		return err_sys(e, errno, "create %s", c->out);
	if (pipe2(pipe_fds, O_CLOEXEC) != 0)
		return err_sys(e, errno, "open a pipe");
	*output = pipe_fds[0];
	fds[2] = pipe_fds[1];
	if (fds[1] < 0)
		fds[1] = fcntl(pipe_fds[1], F_DUPFD_CLOEXEC, 0);
	return fds[1] >= 0 || err_sys(e, errno, "open a pipe");
}

static bool run_command(struct image_build *b, const struct step *s, const struct command *c, struct err *e)
{
	int fds[3] = {CHILD_FD_NULL, CHILD_FD_NULL, CHILD_FD_NULL}, output = -1;
	bool ok = open_files(c, fds, &output, e);
	if (ok) {
		const struct child_spec spec = {
		    .argv = (const char *const *)c->argv,
		    .env = (const char *const *)b->env,
		    .fds = {fds[0], fds[1], fds[2]},
		    .fd_count = 3,
		};
		b->child_exited = false;
		b->last_line[0] = b->error_line[0] = '\0';
		b->child = child_start(b->loop, &spec, on_exit_of_command, b, e);
		ok = b->child || err_wrap(e, "the package %s is needed", s->package);
	}
	if (ok) {
		b->output = stream_open(b->loop, output, &OUTPUT_OPS, b, e);
		output = -1;
		ok = b->output;
	}
	if (ok)
		stream_resume(b->output);
	for (int i = 0; i < 3; i++)
		fd_close(&fds[i]);
	fd_close(&output);
	return ok;
}

static void run_step(struct image_build *b)
{
	const struct step *s = &PLAN_STEPS[b->at];
	struct command c = {0};
	struct err e = ERR_INIT;
	tell(b, s->title);
	if (!s->command) {
		step_done(b, &e);
		return;
	}
	s->command(&b->plan, &c);
	if (!run_command(b, s, &c, &e))
		step_done(b, &e);
	command_finish(&c);
}

/* Between steps, and when a command's output did not end with it. */
static void on_next(void *arg)
{
	struct image_build *b = arg;
	struct err e = ERR_INIT;
	if (b->child_exited && b->output) {
		end_line(b);
		command_done(b);
		return;
	}
	while (b->at < PLAN_STEP_COUNT && !b->plan.needs[PLAN_STEPS[b->at].unit])
		b->at++;
	if (b->canceled) {
		err_set(&e, ERR_CANCELED, "the build was stopped");
		finish(b, false, &e);
	} else if (plan_is_empty(&b->plan)) {
		finish(b, true, NULL);
	} else if (b->at < PLAN_STEP_COUNT) {
		run_step(b);
	} else if (install(b, &e)) {
		b->done_steps = b->all_steps;
		finish(b, false, NULL);
	} else {
		finish(b, false, &e);
	}
}

/* ---- start and end ---- */

static bool make_folders(const struct image_build *b, struct err *e)
{
	char *scratch FREE_ON_EXIT = mem_printf("%s/scratch/root", b->plan.work);
	return fd_remove_tree(b->plan.work, e) && fd_make_dirs(scratch, 0755, e);
}

static bool prepare(struct image_build *b, const char *name, const struct image_build_options *o,
                    struct err *e)
{
	struct recipe recipe = {0};
	struct err damaged = ERR_INIT;
	char *lock FREE_ON_EXIT = mem_printf("%s/.lock-%s", o->images_dir, name);
	if (!parse_name("image name", name, e) || !recipe_load(o->recipe_path, &recipe, e))
		return false;
	if (!fd_make_dirs(o->images_dir, 0755, e) || !fd_make_dirs(o->cache_dir, 0755, e) ||
	    (b->lock_fd = fd_lock_file(lock, e)) < 0) {
		recipe_finish(&recipe);
		return false;
	}
	/* An image that is damaged is as good as none. */
	if (image_load(o->images_dir, name, &b->old, &damaged) && !image_verify(&b->old, false, &damaged))
		image_finish(&b->old);
	const struct image *old = b->old.dir ? &b->old : NULL;
	if (!plan_init(&b->plan, name, &recipe, o->images_dir, o->cache_dir, o->guest_program, old, o->fresh,
	               e) ||
	    !make_folders(b, e))
		return false;
	b->image_dir = mem_printf("%s/%s", o->images_dir, name);
	b->log_path = mem_printf("%s/build-%s.log", o->cache_dir, name);
	b->log_fd = open(b->log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	return b->log_fd >= 0 || err_sys(e, errno, "create %s", b->log_path);
}

struct image_build *image_build_start(struct loop *loop, const char *name,
                                      const struct image_build_options *options,
                                      void (*on_done)(void *arg, bool reused, const struct err *e), void *arg,
                                      struct err *e)
{
	struct image_build *b = mem_alloc(sizeof(*b));
	*b = (struct image_build){.loop = loop, .lock_fd = -1, .log_fd = -1, .on_done = on_done, .arg = arg};
	b->on_progress = options->on_progress;
	str_init(&b->line, LINE_MOST - 1);
	if (!prepare(b, name, options, e)) {
		err_wrap(e, "build image %s", name);
		b->finished = true;
		image_build_close(b);
		return NULL;
	}
	b->env = build_env();
	b->all_steps = STEPS_AROUND;
	for (size_t i = 0; i < PLAN_STEP_COUNT; i++)
		b->all_steps += b->plan.needs[PLAN_STEPS[i].unit];
	b->next = timer_create_on(loop, on_next, b);
	timer_once(b->next, 0);
	return b;
}

void image_build_cancel(struct image_build *b)
{
	b->canceled = true;
	if (b->child)
		child_kill(b->child, SIGTERM);
}

void image_build_close(struct image_build *b)
{
	struct err ignored = ERR_INIT;
	if (!b)
		return;
	if (!b->finished) {
		image_build_cancel(b);
		release_step(b);
		if (!fd_remove_tree(b->plan.work, &ignored))
			err_clear(&ignored);
	}
	timer_close(b->next);
	fd_close(&b->lock_fd);
	fd_close(&b->log_fd);
	plan_finish(&b->plan);
	image_finish(&b->old);
	str_finish(&b->line);
	free_env(b->env);
	free(b->image_dir);
	free(b->log_path);
	free(b);
}
