/* For every distance the rows that would be right after a move are looked for in runs; the run that saves most wins. Moving a
 * region also costs: rows in it that were right already and the emptied ones at its end must be written. */
#include "core/term/shift.h"

struct best {
	struct shift shift;
	int gain;
};

/* What moving the region saves, counted in rows that need not be written; `lines` as in struct shift. */
static int gain_of(const uint64_t *before, const uint64_t *after, const struct shift *s)
{
	int gain = 0;
	for (unsigned row = s->first; row <= s->last; row++) {
		long from = (long)row + s->lines;
		bool inside = from >= (long)s->first && from <= (long)s->last;
		uint64_t moved = inside ? before[from] : 0;
		gain += moved == after[row];
		gain -= before[row] == after[row];
	}
	return gain;
}

static void try_distance(const uint64_t *before, const uint64_t *after, unsigned rows, int lines,
                         struct best *best)
{
	unsigned start = lines < 0 ? (unsigned)-lines : 0, end = lines > 0 ? rows - (unsigned)lines : rows;
	for (unsigned row = start; row < end;) {
		unsigned from = row, text = 0;
		while (row < end && after[row] == before[(long)row + lines])
			text += after[row++] != 0;
		if (row == from) {
			row++;
			continue;
		}
		if (text < SHIFT_GAIN)
			continue;
		struct shift s = {.first = lines > 0 ? from : from - (unsigned)-lines,
		                  .last = lines > 0 ? row - 1 + (unsigned)lines : row - 1,
		                  .lines = lines};
		int gain = gain_of(before, after, &s);
		if (gain > best->gain)
			*best = (struct best){.shift = s, .gain = gain};
	}
}

bool shift_find(const uint64_t *before, const uint64_t *after, unsigned rows, struct shift *out)
{
	struct best best = {.gain = SHIFT_GAIN - 1};
	for (int lines = 1; lines < (int)rows; lines++) {
		try_distance(before, after, rows, lines, &best);
		try_distance(before, after, rows, -lines, &best);
	}
	*out = best.shift;
	return best.gain >= SHIFT_GAIN;
}
