/* The file is not parsed into a tree and written out again: one line is put in at the right place, and the result is read
 * by config_load before it takes the old one's place. So whatever this file thinks of the grammar of inih, the worst that can
 * happen is a refusal. */
#include "core/config/config_edit.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/config/config.h"
#include "core/egress/rule.h"

/* ---- where the line goes ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

struct line {
	const char *text, *end; /* without its line end */
	const char *next;
};

static bool next_line(const char **at, struct line *l)
{
	if (**at == '\0')
		return false;
	l->text = *at;
	l->next = strchrnul(*at, '\n');
	l->end = l->next;
	if (*l->next)
		l->next++;
	*at = l->next;
	return true;
}

/* "[egress]", as inih reads it. */
static bool is_header_of(const char *p, const char *end, const char *section)
{
	size_t n = strlen(section);
	const char *close = memchr(p, ']', (size_t)(end - p));
	return close && (size_t)(close - p) == n + 1 && memcmp(p + 1, section, n) == 0;
}

static bool is_key(const char *p, const char *end, const char *key)
{
	size_t n = strlen(key);
	if ((size_t)(end - p) < n || memcmp(p, key, n) != 0)
		return false;
	for (p += n; p < end && is_blank(*p); p++)
		;
	return p < end && (*p == '=' || *p == ':');
}

/* After the last allow of [egress] and what continues it (an indented line does), else after the section's last header; NULL when
 * there is no such section. */
static const char *find_place(const char *text)
{
	const char *after_header = NULL, *after_allow = NULL;
	bool inside = false, continues = false;
	struct line l;
	if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3;
	while (next_line(&text, &l)) {
		const char *p = l.text;
		while (p < l.end && is_blank(*p))
			p++;
		if (p == l.end || *p == ';' || *p == '#')
			continue;
		if (p > l.text && continues) {
			after_allow = l.next;
			continue;
		}
		if (*p == '[') {
			inside = is_header_of(p, l.end, "egress");
			after_header = inside ? l.next : after_header;
		}
		continues = inside && is_key(p, l.end, "allow");
		if (continues)
			after_allow = l.next;
	}
	return after_allow ? after_allow : after_header;
}

static void put_with_line(struct str *out, const char *text, const char *rule)
{
	const char *lf = strchr(text, '\n');
	const char *eol = lf && lf > text && lf[-1] == '\r' ? "\r\n" : "\n";
	const char *place = find_place(text);
	const char *at = place ? place : text + strlen(text);
	str_append_bytes(out, text, (size_t)(at - text));
	if (at > text && at[-1] != '\n')
		str_append(out, eol);
	if (!place)
		str_appendf(out, "%s[egress]%s", *text ? eol : "", eol);
	str_appendf(out, "allow = %s%s", rule, eol);
	str_append(out, at);
}

/* ---- is it what was meant? ---- */

static bool has_rule(const struct config *c, const struct rule *want)
{
	struct err ignored = ERR_INIT;
	struct rule r;
	for (size_t i = 0; i < c->policy_count; i++) {
		if (rule_parse(c->policy[i], strlen(c->policy[i]), &r, &ignored) && rule_equal(&r, want))
			return true;
	}
	return false;
}

/* A new VM takes the lines in their order (policy_apply): a deny of the same host further down would undo it, and a wider one
 * would win. */
static bool check_effect(const struct config *c, const char *path, const struct rule *want, struct err *e)
{
	struct err ignored = ERR_INIT;
	struct rule r;
	for (size_t i = 0; i < c->policy_count; i++) {
		if (rule_parse(c->policy[i], strlen(c->policy[i]), &r, &ignored) && r.kind == RULE_DENY &&
		    (r.port == RULE_ANY_PORT || r.port == want->port) &&
		    ((r.below == want->below && strcmp(r.host, want->host) == 0) ||
		     (r.below && host_is_below(want->host, r.host))))
			return err_set(e, ERR_EXISTS,
			               "%s says '%.300s', which would win: take that out first", path,
			               c->policy[i]);
	}
	return true;
}

static bool check_text(const char *path, const struct str *text, const struct config *before,
                       const struct rule *rule, struct err *e)
{
	struct config now;
	struct err why = ERR_INIT;
	char *probe FREE_ON_EXIT = mem_printf("%s.check-%ld", path, (long)getpid());
	if (text->overflow)
		return err_set(e, ERR_LIMIT, "%s is too long", path);
	config_init(&now);
	if (!fd_write_file(probe, text->s, text->len, 0600, e))
		return false;
	bool fine = config_load(&now, probe, &why) && now.policy_count == before->policy_count + 1 &&
	            has_rule(&now, rule);
	unlink(probe);
	config_finish(&now);
	return fine || err_set(e, ERR_INVALID, "%s has no place for one more line%s%s", path,
	                       why.kind ? ": " : "", why.kind ? why.msg : "");
}

/* ---- the file ---- */

static char *read_text(const char *path, mode_t *mode, struct err *e)
{
	struct stat st;
	size_t len;
	*mode = 0600;
	if (stat(path, &st) != 0)
		return errno == ENOENT ? mem_strdup("") : (err_sys(e, errno, "read %s", path), (char *)NULL);
	*mode = st.st_mode & 07777;
	char *text = fd_read_file(path, CONFIG_FILE_MAX, &len, e);
	if (text && strlen(text) != len) {
		err_set(e, ERR_INVALID, "%s holds a NUL byte", path);
		free(text);
		return NULL;
	}
	return text;
}

/* The open() mode of a new file is cut by the umask; the bits that are missing come back afterwards. */
static bool write_text(const char *path, const struct str *text, mode_t mode, struct err *e)
{
	if (!fd_write_file(path, text->s, text->len, mode & 0666, e))
		return false;
	return chmod(path, mode) == 0 || err_sys(e, errno, "change the mode of %s", path);
}

static bool add(const char *path, const struct rule *rule, bool *changed, struct err *e)
{
	struct config before;
	mode_t mode;
	char target[RULE_TEXT_SIZE];
	struct str text = STR_INIT(CONFIG_FILE_MAX);
	config_init(&before);
	char *old FREE_ON_EXIT = read_text(path, &mode, e);
	bool fine = old && config_load(&before, path, e);
	*changed = fine && !has_rule(&before, rule);
	if (*changed) {
		rule_format_target(rule, target);
		put_with_line(&text, old, target);
		fine = check_effect(&before, path, rule, e) && check_text(path, &text, &before, rule, e) &&
		       write_text(path, &text, mode, e);
	}
	str_finish(&text);
	config_finish(&before);
	return fine;
}

/* The file itself: whoever keeps it elsewhere has a link here, which stays. */
static char *real_path(const char *path, struct err *e)
{
	struct stat st;
	char *real = realpath(path, NULL);
	if (real)
		return real;
	if (errno == ENOENT && lstat(path, &st) == 0)
		err_set(e, ERR_NOT_FOUND, "%s is a link to nothing", path);
	else if (errno != ENOENT)
		err_sys(e, errno, "%s", path);
	else
		return mem_strdup(path);
	return NULL;
}

bool config_add_allow(const char *path, const char *rule, bool *changed, struct err *e)
{
	struct rule parsed;
	bool did = false;
	if (!rule_parse_host(RULE_ALLOW, rule, strlen(rule), &parsed, e))
		return false;
	char *real FREE_ON_EXIT = real_path(path, e);
	char *copy FREE_ON_EXIT = real ? mem_strdup(real) : NULL;
	const char *folder = copy ? dirname(copy) : NULL;
	if (!folder || !fd_make_dirs(folder, 0700, e))
		return false;
	/* Two consoles at once: the folder itself is the lock, so that nothing is left behind. */
	int lock CLOSE_ON_EXIT = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0)
		return err_sys(e, errno, "open folder %s", folder);
	if (flock(lock, LOCK_EX | LOCK_NB) != 0)
		return err_set(e, ERR_BUSY, "%s is just being changed by another program", path);
	bool fine = add(real, &parsed, &did, e);
	if (changed)
		*changed = fine && did;
	return fine;
}
