#include "tui/terminfo.h"

#include <string.h>
#include <unistd.h>

#include <ncurses.h>
#include <term.h>

/* Old terminals need a pause after it ("$<5>"), which changes nothing here. */
static bool is_ansi(const char *cup)
{
	static const char ANSI[] = "\033[%i%p1%d;%p2%dH";
	const size_t len = sizeof(ANSI) - 1;
	return strncmp(cup, ANSI, len) == 0 && (cup[len] == '\0' || cup[len] == '$');
}

bool terminfo_ask(const char *term, int *colours, struct err *e)
{
	int found;
	if (setupterm(term, STDOUT_FILENO, &found) == ERR) {
		if (found < 0)
			return err_set(e, ERR_NOT_FOUND,
			               "no terminal is known here: the package ncurses-base is missing");
		return err_set(
		    e, ERR_NOT_FOUND,
		    "the terminal '%s' (TERM) is not known here: the package ncurses-term may have it, or "
		    "try TERM=xterm-256color",
		    term);
	}
	const char *cup = tigetstr("cup");
	bool fine = cup && cup != (char *)-1 && is_ansi(cup);
	*colours = MAX(tigetnum("colors"), 0);
	del_curterm(cur_term);
	return fine ||
	       err_set(e, ERR_INVALID,
	               "the terminal '%s' (TERM) cannot be drawn on: its cursor is not placed as ANSI has it",
	               term);
}
