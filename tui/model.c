#include "tui/model.h"

#include <string.h>

const struct pane_source *model_pane_find(const struct model *m, const char *vm, uint32_t term)
{
	for (size_t i = 0; i < m->pane_count; i++) {
		const struct model_pane *p = &m->panes[i];
		if (strcmp(p->source.vm, vm) == 0 &&
		    (p->wished == term || (term != 0 && p->source.term == term)))
			return &p->source;
	}
	return NULL;
}
