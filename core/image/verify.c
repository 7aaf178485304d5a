/* Method: a file that was right once and has since kept its inode, size, mtime and ctime has not been
 * written. What was found right is noted in a file beside the parts, one line each, in the exact form that is
 * compared; a missing, old or broken note only costs the hashing. This finds damage, not an attacker: who can
 * write in the folder can also write a new image.json. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/image/digest.h"
#include "core/image/image.h"

#define NOTE     ".verified"
#define NOTE_MAX 16384

static bool put_line(struct str *s, const char *path, const struct image_part *p, struct err *e)
{
	struct stat st;
	if (lstat(path, &st) != 0)
		return err_sys(e, errno, "%s", path);
	str_appendf(s, "%s %s %llu %llu %lld %lld.%09ld %lld.%09ld\n", p->sha256, p->file,
	            (unsigned long long)st.st_dev, (unsigned long long)st.st_ino, (long long)st.st_size,
	            (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, (long long)st.st_ctim.tv_sec,
	            st.st_ctim.tv_nsec);
	return true;
}

static bool is_noted(const char *note, const char *line)
{
	const char *at = note ? strstr(note, line) : NULL;
	return at && (at == note || at[-1] == '\n');
}

static bool hash_part(const char *path, const struct image_part *p, struct err *e)
{
	char hex[DIGEST_SIZE];
	if (!digest_file(path, hex, NULL, e))
		return false;
	if (strcmp(hex, p->sha256) != 0)
		return err_set(e, ERR_INVALID,
		               "%s is not what was built (SHA-256 differs): build the image again", path);
	return true;
}

bool image_verify(const struct image *image, bool full, struct err *e)
{
	struct str seen = STR_INIT(NOTE_MAX);
	struct err ignored = ERR_INIT;
	char *note_path FREE_ON_EXIT = mem_printf("%s/%s", image->dir, NOTE);
	char *note FREE_ON_EXIT = full ? NULL : fd_read_file(note_path, NOTE_MAX, NULL, &ignored);
	bool ok = true, hashed = false;
	for (size_t i = 0; ok && i < image->part_count; i++) {
		const struct image_part *p = &image->parts[i];
		char *path FREE_ON_EXIT = mem_printf("%s/%s", image->dir, p->file);
		size_t from = seen.len;
		/* Looked at before the hashing: a change during it shows the next time. */
		ok = put_line(&seen, path, p, e);
		if (!ok || is_noted(note, seen.s + from))
			continue;
		hashed = true;
		ok = hash_part(path, p, e);
	}
	err_clear(&ignored);
	if (ok && hashed && !fd_write_file(note_path, seen.s, seen.len, 0644, &ignored))
		err_clear(&ignored); /* a read-only folder: hashed again the next time */
	str_finish(&seen);
	return ok || err_wrap(e, "image %s", image->name);
}
