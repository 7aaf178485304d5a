/* What terminals with a full history weigh: fill_memory COUNT PAYLOAD LINES. Makes COUNT emulators of 50x200, writes LINES pieces of
 * the payload into each, and prints "KIB_RESIDENT KIB_COUNTED LINES_KEPT": the growth of this process, what the emulators say
 * they hold, and the lines that the last one kept. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/parse.h"
#include "core/term/emulator.h"
#include "tests/lib/payloads.h"

#define ROWS 50
#define COLS 200

static size_t resident_kib(void)
{
	char line[200];
	size_t kib = 0;
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "VmRSS:", 6) == 0)
			kib = strtoul(line + 6, NULL, 10);
	}
	if (f)
		fclose(f);
	return kib;
}

int main(int argc, char **argv)
{
	uint64_t count, lines;
	const struct payload *p = argc == 4 ? payload_find(argv[2]) : NULL;
	if (!p || !parse_u64(argv[1], 1, 1000, &count) || !parse_u64(argv[3], 1, 100000, &lines)) {
		fprintf(stderr, "usage: fill_memory COUNT PAYLOAD LINES\n");
		return 2;
	}
	struct emulator **all = mem_array(count, sizeof(struct emulator *));
	struct buf piece = BUF_INIT(1 << 20);
	size_t before = resident_kib(), counted = 0;
	for (uint64_t k = 0; k < count; k++) {
		all[k] = emulator_create(ROWS, COLS, NULL, NULL);
		for (uint64_t i = 0; i < lines; i++) {
			buf_clear(&piece);
			p->fill(&piece, (unsigned)i, ROWS, COLS);
			emulator_write(all[k], piece.data, piece.len);
		}
		counted += emulator_memory(all[k]);
	}
	printf("%zu %zu %u\n", resident_kib() - before, counted / 1024,
	       emulator_history_count(all[count - 1]));
	for (uint64_t k = 0; k < count; k++)
		emulator_destroy(all[k]);
	buf_finish(&piece);
	free(all);
	return 0;
}
