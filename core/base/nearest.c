#include "core/base/nearest.h"

#include <stdio.h>
#include <string.h>

#include "core/base/check.h"

#define WORD_MOST 63

/* Edits to get from a to b: insert, delete, replace, or swap two neighbours (the commonest slip). */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][WORD_MOST + 1]; /* this row of the table and the two before it */
	size_t n = strlen(a), m = strlen(b);
	for (size_t j = 0; j <= m; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *older = rows[(i + 1) % 3];
		now[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t replace = before[j - 1] + (a[i - 1] != b[j - 1]);
			now[j] = MIN(MIN(before[j], now[j - 1]) + 1, replace);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = MIN(now[j], older[j - 2] + 1);
		}
	}
	return rows[n % 3][m];
}

void nearest_begin(struct nearest *n, const char *typed)
{
	*n = (struct nearest){.distance = (size_t)-1};
	snprintf(n->typed, sizeof(n->typed), "%s", typed);
}

void nearest_offer(struct nearest *n, const char *word)
{
	if (strlen(word) > WORD_MOST)
		return;
	size_t d = distance(n->typed, word);
	if (d >= n->distance)
		return;
	n->distance = d;
	snprintf(n->best, sizeof(n->best), "%s", word);
}

const char *nearest_best(const struct nearest *n)
{
	/* One slip in a short word, one in three letters of a longer one. */
	size_t most = MAX((size_t)1, strlen(n->typed) / 3);
	return n->distance <= most && n->distance < strlen(n->typed) ? n->best : NULL;
}
