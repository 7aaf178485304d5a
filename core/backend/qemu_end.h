/* How a QEMU process ended, as one line for people: pure. */
#ifndef CCVM_BACKEND_QEMU_END_H
#define CCVM_BACKEND_QEMU_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_LAST_WORDS_MOST 2048
#define QEMU_WHY_SIZE        512

struct qemu_end {
	int code, signal;  /* exit status; signal 0: a normal exit */
	bool killed;       /* its owner asked for it */
	char broken[200];  /* why we ended it ourselves, "" if we did not */
	char shutdown[48]; /* reason of QMP's SHUTDOWN event, "" when there was none */
	/* The end of what it wrote to stderr. */
	char last_words[QEMU_LAST_WORDS_MOST];
	size_t last_words_len;
};

/* Keeps the end of what was written so far. */
void qemu_end_add_words(struct qemu_end *end, const uint8_t *bytes, size_t len);

/* True for a power-off by the guest and exit code 0; `why` is "" then. Otherwise `why` (QEMU_WHY_SIZE bytes) says what
 * happened, with QEMU's last words escaped. */
bool qemu_end_judge(const struct qemu_end *end, char *why);

#endif
