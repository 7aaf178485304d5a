#include "core/cli/prefix.h"

#include "core/term/keys.h"

#define CONTROL_BIT 0x40 /* C-] is ']' without it */

/* Control keys come with their letter in either case, or as the bare control code. */
static bool is_control(uint32_t key, unsigned mods, char control)
{
	uint32_t upper = key >= 'a' && key <= 'z' ? key - 32 : key;
	if (mods == TERM_CTRL)
		return upper == ((uint32_t)control | CONTROL_BIT) || (control == 0 && key == ' ');
	return mods == 0 && key == (uint32_t)control && key < 0x20;
}

enum prefix_action prefix_key(struct prefix *p, uint32_t key, unsigned mods)
{
	bool is_prefix = is_control(key, mods, p->control);
	if (!p->pressed) {
		p->pressed = is_prefix;
		return is_prefix ? PREFIX_SWALLOW : PREFIX_PASS;
	}
	p->pressed = false;
	if (is_prefix)
		return PREFIX_LITERAL;
	if (mods == 0 && key == 'd')
		return PREFIX_DETACH;
	if ((mods == 0 && key == 'z') || is_control(key, mods, 'Z' & 0x1f))
		return PREFIX_SUSPEND;
	return PREFIX_HELP;
}

void prefix_name(const struct prefix *p, char out[4])
{
	out[0] = 'C';
	out[1] = '-';
	out[2] = (char)(p->control | CONTROL_BIT);
	out[3] = '\0';
}
