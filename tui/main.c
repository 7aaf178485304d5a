/* ccvm: the commands of core/cli, and the dashboard that they do not know. */
#include <locale.h>

#include "core/base/fd.h"
#include "core/cli/cli.h"
#include "core/loop/child.h"
#include "core/loop/tty_guard.h"
#include "tui/app.h"
#include "tui/screen.h"

int main(int argc, char **argv)
{
	static const struct cli_hooks HOOKS = {.dashboard = dashboard_run, .terminal = tui_screen_caps};
	if (!fd_fill_standard())
		return 1;
	child_guard(argc, argv);
	tty_guard_main(argc, argv);
	setlocale(LC_CTYPE, "");
	return cli_main(argc, argv, &HOOKS);
}
