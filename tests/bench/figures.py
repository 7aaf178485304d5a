"""What the benchmarks share: rows, /proc, programs that end with the run."""
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time

MIB = 1024 * 1024
BUILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build")


def row(what, value, beside="", note=""):
    print(f"{what:<48} {value:>16}  {beside:<44} {note}".rstrip(), flush=True)


def median(values):
    return statistics.median(values)


def percentile(values, p):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * p / 100))]


def wait_until(what, condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"{what}: not within {seconds} s")
        time.sleep(0.02)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(p) for p in f.read().split()]


def status_field(pid, name):
    with open(f"/proc/{pid}/status") as f:
        return int(re.search(rf"^{name}:\s+(\d+)", f.read(), re.M).group(1))


def resident_kib(pid):
    return status_field(pid, "VmRSS")


def wake_ups(pid):
    return status_field(pid, "voluntary_ctxt_switches")


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def private_folders():
    """Folders of its own for the run, in the environment; returns the one that holds them."""
    top = tempfile.mkdtemp(prefix="ccvm-bench.")
    for name, variable in (("r", "XDG_RUNTIME_DIR"), ("s", "XDG_STATE_HOME"), ("c", "XDG_CONFIG_HOME")):
        os.mkdir(os.path.join(top, name), 0o700)
        os.environ[variable] = os.path.join(top, name)
    return top


def remove_folders(top):
    shutil.rmtree(top, ignore_errors=True)


class Outer:
    """A terminal of the operator with a program in it (outer_terminal.c)."""

    def __init__(self, rows, cols, program, keys=400):
        argv = [os.path.join(BUILD, "tests/bench/outer_terminal"), str(rows), str(cols), str(keys), "--", *program]
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        said = []
        while (line := self.process.stdout.readline().strip()) != "ok":
            if not line and self.process.poll() is not None:
                raise RuntimeError(f"outer_terminal ended at '{command}'")
            said.append(line)
        return said

    def program(self):
        return children(self.process.pid)[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


class Vm:
    """A supervisor whose guest's programs run here (tests/e2e/fake_supervisor.c); `program` is what its terminals run."""

    def __init__(self, name, program):
        self.name = name
        self.process = subprocess.Popen([os.path.join(BUILD, "tests/e2e/fake_supervisor"), name, *program],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline().strip() != "ready":
            raise RuntimeError("fake_supervisor does not start")

    def open_terminal(self, rows, cols):
        """Opens its terminal in that size and leaves it: it runs on, and nobody watches."""
        subprocess.run([os.path.join(BUILD, "tests/vm/console_drive"), self.name, f"open={rows}x{cols}", "status"],
                       check=True, capture_output=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


class Tmux:
    """A tmux server of its own, without anybody's settings: no status line, the same history as ours."""

    def __init__(self, top):
        self.socket = os.path.join(top, "tmux.sock")
        self.config = os.path.join(top, "tmux.conf")
        with open(self.config, "w") as f:
            f.write("set -g status off\nset -g history-limit 10000\nset -g default-terminal screen-256color\n"
                    "set -g escape-time 0\nset -g remain-on-exit off\n")

    def argv(self, *args):
        return ["tmux", "-u", "-S", self.socket, "-f", self.config, *args]

    def run(self, *args):
        return subprocess.run(self.argv(*args), check=True, capture_output=True, text=True).stdout.strip()

    def server(self):
        return int(self.run("display-message", "-p", "#{pid}"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(self.argv("kill-server"), capture_output=True)
        wait_until("the end of tmux", lambda: subprocess.run(self.argv("ls"), capture_output=True).returncode != 0)
