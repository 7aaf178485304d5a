#include "core/backend/accel.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "core/base/escape.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/str.h"

#define MEMORY_MOST 65536
#define BOOT_ID     "/proc/sys/kernel/random/boot_id"

bool accel_kvm_opens(char *why)
{
	int kvm CLOSE_ON_EXIT = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (kvm < 0) {
		const char *hint = errno == ENOENT   ? ": no KVM in this kernel, or virtualization is off"
		                   : errno == EACCES ? ": add yourself to the group kvm"
		                                     : "";
		snprintf(why, ACCEL_WHY_SIZE, "/dev/kvm: %s%s", strerror(errno), hint);
		return false;
	}
	int version = ioctl(kvm, KVM_GET_API_VERSION, 0);
	if (version != KVM_API_VERSION) {
		snprintf(why, ACCEL_WHY_SIZE, "/dev/kvm speaks version %d, not %d", version, KVM_API_VERSION);
		return false;
	}
	int vm CLOSE_ON_EXIT = ioctl(kvm, KVM_CREATE_VM, 0);
	if (vm < 0)
		snprintf(why, ACCEL_WHY_SIZE, "/dev/kvm makes no VM: %s", strerror(errno));
	return vm >= 0;
}

/* ---- the key ---------------------------------------------------------------------------------------------------- */

static bool name_file(const char *path, char *out, size_t size, struct err *e)
{
	struct stat st;
	if (stat(path, &st) != 0)
		return err_sys(e, errno, "%s", path);
	snprintf(out, size, "%jd-%jd.%09ld-%ju", (intmax_t)st.st_size, (intmax_t)st.st_mtim.tv_sec,
	         st.st_mtim.tv_nsec, (uintmax_t)st.st_ino);
	return true;
}

static bool read_boot_id(char *out, size_t size, struct err *e)
{
	char *text FREE_ON_EXIT = fd_read_file(BOOT_ID, 256, NULL, e);
	if (!text)
		return false;
	text[strcspn(text, "\n")] = '\0';
	snprintf(out, size, "%s", text);
	return true;
}

bool accel_key_of(struct accel_key *key, const char *qemu, const char *kernel, const char *initramfs,
                  struct err *e)
{
	struct accel_key k = {.boot = ""};
	if (!read_boot_id(k.boot, sizeof(k.boot), e) || !name_file(qemu, k.qemu, sizeof(k.qemu), e) ||
	    !name_file(kernel, k.kernel, sizeof(k.kernel), e) ||
	    !name_file(initramfs, k.initramfs, sizeof(k.initramfs), e))
		return false;
	*key = k;
	return true;
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

static bool is_text(const cJSON *object, const char *name, const char *wanted)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
	return cJSON_IsString(item) && strcmp(item->valuestring, wanted) == 0;
}

/* The answers of this boot as an array, or NULL; the caller deletes *root. */
static const cJSON *open_answers(const char *text, const char *boot, cJSON **root)
{
	*root = cJSON_ParseWithOpts(text, NULL, true);
	if (!is_text(*root, "boot", boot))
		return NULL;
	const cJSON *answers = cJSON_GetObjectItemCaseSensitive(*root, "answers");
	return cJSON_IsArray(answers) ? answers : NULL;
}

static bool matches(const cJSON *item, const struct accel_key *key)
{
	return is_text(item, "qemu", key->qemu) && is_text(item, "kernel", key->kernel) &&
	       is_text(item, "initramfs", key->initramfs);
}

static bool read_answer(const cJSON *item, struct accel_answer *out)
{
	const cJSON *works = cJSON_GetObjectItemCaseSensitive(item, "works");
	const cJSON *why = cJSON_GetObjectItemCaseSensitive(item, "why");
	if (!cJSON_IsBool(works) || !cJSON_IsString(why))
		return false;
	out->works = cJSON_IsTrue(works);
	escape_text(out->why, sizeof(out->why), why->valuestring, strlen(why->valuestring));
	return true;
}

/* The first answer for this key, or of this boot when the key has no files. */
static bool find_answer(const char *text, const struct accel_key *key, bool any, struct accel_answer *out)
{
	cJSON *root;
	const cJSON *answers = open_answers(text, key->boot, &root), *item;
	bool found = false;
	cJSON_ArrayForEach(item, answers)
	{
		if (!found && (any || matches(item, key)))
			found = read_answer(item, out);
	}
	cJSON_Delete(root);
	return found;
}

bool accel_parse(const char *text, const struct accel_key *key, struct accel_answer *out)
{
	return find_answer(text, key, false, out);
}

static void append_text(struct str *s, const char *name, const char *value)
{
	str_appendf(s, "\"%s\":", name);
	str_append_json(s, value, strlen(value), 1024);
}

static void append_answer(struct str *s, const struct accel_key *key, const struct accel_answer *answer)
{
	str_append(s, "\n{");
	append_text(s, "qemu", key->qemu);
	str_append(s, ",");
	append_text(s, "kernel", key->kernel);
	str_append(s, ",");
	append_text(s, "initramfs", key->initramfs);
	str_appendf(s, ",\"works\":%s,", answer->works ? "true" : "false");
	append_text(s, "why", answer->why);
	str_append(s, "}");
}

static bool copy_text(const cJSON *item, const char *name, char *out, size_t size)
{
	const cJSON *text = cJSON_GetObjectItemCaseSensitive(item, name);
	return cJSON_IsString(text) && (size_t)snprintf(out, size, "%s", text->valuestring) < size;
}

static void append_others(struct str *s, const char *old, const struct accel_key *key)
{
	cJSON *root;
	const cJSON *answers = open_answers(old, key->boot, &root), *item;
	size_t count = 1;
	cJSON_ArrayForEach(item, answers)
	{
		struct accel_key k = {.boot = ""};
		struct accel_answer a;
		if (count == ACCEL_ANSWERS_MOST || matches(item, key) || !read_answer(item, &a) ||
		    !copy_text(item, "qemu", k.qemu, sizeof(k.qemu)) ||
		    !copy_text(item, "kernel", k.kernel, sizeof(k.kernel)) ||
		    !copy_text(item, "initramfs", k.initramfs, sizeof(k.initramfs)))
			continue;
		str_append(s, ",");
		append_answer(s, &k, &a);
		count++;
	}
	cJSON_Delete(root);
}

char *accel_format(const char *old, const struct accel_key *key, const struct accel_answer *answer)
{
	struct str s = STR_INIT(MEMORY_MOST);
	str_append(&s, "{");
	append_text(&s, "boot", key->boot);
	str_append(&s, ",\"answers\":[");
	append_answer(&s, key, answer);
	if (old)
		append_others(&s, old, key);
	str_append(&s, "\n]}\n");
	CHECK(!s.overflow); /* 16 answers of at most 2 KiB */
	return str_detach(&s);
}

static char *read_memory(const char *memory_file)
{
	struct err e = ERR_INIT;
	return fd_read_file(memory_file, MEMORY_MOST, NULL, &e);
}

bool accel_recall(const char *memory_file, const struct accel_key *key, struct accel_answer *out)
{
	char *text FREE_ON_EXIT = read_memory(memory_file);
	return text && accel_parse(text, key, out);
}

bool accel_recall_any(const char *memory_file, struct accel_answer *out)
{
	struct accel_key key = {.boot = ""};
	struct err e = ERR_INIT;
	char *text FREE_ON_EXIT = read_memory(memory_file);
	return text && read_boot_id(key.boot, sizeof(key.boot), &e) && find_answer(text, &key, true, out);
}

bool accel_remember(const char *memory_file, const struct accel_key *key, const struct accel_answer *answer,
                    struct err *e)
{
	char *old FREE_ON_EXIT = read_memory(memory_file);
	char *text FREE_ON_EXIT = accel_format(old, key, answer);
	return fd_write_file(memory_file, text, strlen(text), 0600, e);
}
