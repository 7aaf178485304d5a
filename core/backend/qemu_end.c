#include "core/backend/qemu_end.h"

#include <stdio.h>
#include <string.h>

#include "core/base/check.h"
#include "core/base/escape.h"

#define SHOWN_WORDS 240

void qemu_end_add_words(struct qemu_end *end, const uint8_t *bytes, size_t len)
{
	if (len > QEMU_LAST_WORDS_MOST) {
		bytes += len - QEMU_LAST_WORDS_MOST;
		len = QEMU_LAST_WORDS_MOST;
	}
	size_t keep = MIN(end->last_words_len, QEMU_LAST_WORDS_MOST - len);
	memmove(end->last_words, end->last_words + end->last_words_len - keep, keep);
	memcpy(end->last_words + keep, bytes, len);
	end->last_words_len = keep + len;
}

/* ": what QEMU wrote" in one line, "" when it wrote nothing. */
static void last_words(const struct qemu_end *end, char *out, size_t size)
{
	char text[QEMU_LAST_WORDS_MOST];
	size_t n = 0;
	for (size_t i = 0; i < end->last_words_len; i++) {
		char c = end->last_words[i];
		if (c != '\n')
			text[n++] = c;
		else if (n > 0 && text[n - 1] != ' ')
			text[n++] = ' ';
	}
	while (n > 0 && text[n - 1] == ' ')
		n--;
	size_t skip = n > SHOWN_WORDS ? n - SHOWN_WORDS : 0;
	char escaped[SHOWN_WORDS + 80];
	escape_text(escaped, sizeof(escaped), text + skip, n - skip);
	snprintf(out, size, "%s%s%s", n > 0 ? ": " : "", skip > 0 ? "..." : "", escaped);
}

static const char *text_of_reason(const char *reason)
{
	static const struct {
		const char *reason, *text;
	} table[] = {
	    {"guest-reset", "the guest reset itself (a kernel panic or a reboot)"},
	    {"guest-panic", "the guest's kernel panicked"},
	    {"host-signal", "QEMU was told to end by a signal"},
	    {"host-qmp-quit", "QEMU was told to quit"},
	};
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (strcmp(reason, table[i].reason) == 0)
			return table[i].text;
	return NULL;
}

bool qemu_end_judge(const struct qemu_end *end, char *why)
{
	char words[400];
	const char *reason = text_of_reason(end->shutdown);
	last_words(end, words, sizeof(words));
	why[0] = '\0';
	if (end->broken[0])
		snprintf(why, QEMU_WHY_SIZE, "%s", end->broken);
	else if (end->killed)
		snprintf(why, QEMU_WHY_SIZE, "killed");
	else if (end->signal != 0)
		snprintf(why, QEMU_WHY_SIZE, "QEMU was killed by signal %d (%s)%s", end->signal,
		         strsignal(end->signal), words);
	else if (end->code != 0)
		snprintf(why, QEMU_WHY_SIZE, "QEMU exited with code %d%s", end->code, words);
	else if (reason)
		snprintf(why, QEMU_WHY_SIZE, "%s", reason);
	else if (strcmp(end->shutdown, "guest-shutdown") != 0)
		snprintf(why, QEMU_WHY_SIZE, "QEMU ended without a word from the guest (%s)%s",
		         end->shutdown[0] ? end->shutdown : "no reason given", words);
	return why[0] == '\0';
}
