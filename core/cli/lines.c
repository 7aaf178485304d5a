#include "core/cli/lines.h"

void lines_take(const struct transcript *t, uint64_t number, unsigned cols, struct screen *out)
{
	struct cell cells[TERM_COLS_MAX];
	unsigned flags = 0;
	size_t used = transcript_line(t, number, cells, TERM_COLS_MAX, &flags);
	screen_init(out, 1, MAX((unsigned)used, cols));
	for (size_t i = 0; i < used; i++)
		out->cells[i] = clusters_copy_cell(&out->clusters, transcript_clusters(t), &cells[i]);
	out->flags[0] = (uint8_t)flags;
}

unsigned lines_text(const struct transcript *t, uint64_t number, struct str *out)
{
	struct screen line;
	lines_take(t, number, TERM_COLS_MIN, &line);
	unsigned flags = line.flags[0];
	screen_row_text(&line, 0, out);
	screen_finish(&line);
	return flags;
}
