#include "tests/lib/fake_vm.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/fd.h"

bool tap_ok(struct tap *t, bool passed, const char *what)
{
	t->failed += !passed;
	printf("%sok %d - %s\n", passed ? "" : "not ", ++t->count, what);
	fflush(stdout);
	return passed;
}

struct fake_vm fake_vm_start(const char *name)
{
	int in[2], out[2];
	char line[16];
	if (pipe(in) < 0 || pipe(out) < 0)
		exit(2);
	struct fake_vm vm = {.pid = fork(), .commands = in[1]};
	if (vm.pid == 0) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		close(in[0]);
		close(in[1]);
		close(out[0]);
		close(out[1]);
		execl("build/tests/e2e/fake_supervisor", "fake_supervisor", name, (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	fd_set_cloexec(in[1], true);
	if (read(out[0], line, sizeof(line)) <= 0) {
		printf("Bail out! the fake supervisor does not start\n");
		exit(2);
	}
	close(out[0]);
	return vm;
}

void fake_vm_tell(const struct fake_vm *vm, const char *line)
{
	fd_write_all(vm->commands, line, strlen(line));
	fd_write_all(vm->commands, "\n", 1);
}

bool fake_vm_runs(const struct fake_vm *vm)
{
	return waitpid(vm->pid, NULL, WNOHANG) == 0;
}

void fake_vm_end(struct fake_vm *vm)
{
	kill(vm->pid, SIGCONT);
	close(vm->commands);
	waitpid(vm->pid, NULL, 0);
}
