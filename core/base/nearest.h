/* "Did you mean ...?": the known word that is nearest to what was typed. */
#ifndef CCVM_BASE_NEAREST_H
#define CCVM_BASE_NEAREST_H

#include <stddef.h>

struct nearest {
	char typed[64];
	char best[64];
	size_t distance;
};

void nearest_begin(struct nearest *n, const char *typed);
void nearest_offer(struct nearest *n, const char *word);
/* NULL when nothing is near enough to be meant. */
const char *nearest_best(const struct nearest *n);

#endif
