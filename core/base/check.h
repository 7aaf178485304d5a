/* Compiler attributes and checks that every file may use.
 *
 * Two different failures, two different macros (see err.h for the third):
 *   BUG(...)    the program is wrong: print where and abort. Never reachable by input.
 *   struct err  the world is wrong: bad input, a full disk, a peer that went away.
 */
#ifndef CCVM_BASE_CHECK_H
#define CCVM_BASE_CHECK_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/param.h> /* MIN, MAX */

#define PRINTF_LIKE(fmt, first) __attribute__((format(printf, fmt, first)))
#define MUST_USE                __attribute__((warn_unused_result))
#define NORETURN                __attribute__((noreturn))
#define UNUSED                  __attribute__((unused))
#define CLEANUP(fn)             __attribute__((cleanup(fn)))

#define ARRAY_LEN(a)                    (sizeof(a) / sizeof((a)[0]))
#define CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#define BUG(...) check_bug(__FILE__, __LINE__, __VA_ARGS__)
/* An invariant of our own code; stays on in release builds. */
#define CHECK(cond)                                     \
	do {                                            \
		if (!(cond))                            \
			BUG("check failed: %s", #cond); \
	} while (0)

void check_bug(const char *file, int line, const char *fmt, ...) PRINTF_LIKE(3, 4) NORETURN;

/* Called once with the message before the abort; NULL takes the hook away. The console uses it to give the
 * terminal back, pid 1 in the guest to power off. */
void check_on_bug(void (*hook)(const char *msg));

#endif
