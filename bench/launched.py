"""Starts a program built in one way (uninstrumented, for deadheat, recorded by it, for ThreadSanitizer), and says what it took."""
import glob, math, os, subprocess, sys
from typing import NamedTuple

from mailbox_of_run import is_used, mailbox

here = os.path.dirname(os.path.abspath(__file__))


class Costs(NamedTuple):
    seconds: float
    processor: float  # seconds, of its children too
    kilobytes: int  # the peak


def clang():
    found = next((c for c in ("clang-19", "clang") if subprocess.run(["which", c], capture_output=True).returncode == 0), None)
    return found or sys.exit("install clang-19 (apt install clang-19 libclang-rt-19-dev)")


class Launcher:
    def __init__(self, room, limit=100):
        """`room` is a directory for files, `limit` the seconds after which a program is killed."""
        self.room, self.limit = room, limit
        subprocess.run([clang(), "-O1", os.path.join(here, "launch.c"), "-o", os.path.join(room, "launch")], check=True)

    def tapes(self):
        return glob.glob(os.path.join(self.room, "tape.*"))

    def start(self, way, command, openmp=False):
        environment = dict(os.environ)
        if openmp:
            environment["OMP_NUM_THREADS"] = "2"
        if way == "tsan":  # it may not start where mappings are randomised much
            command = ["setarch", "-R", *command]
            environment["TSAN_OPTIONS"] = "symbolize=0"
            if openmp:
                archer = glob.glob("/usr/lib/llvm-*/lib/libarcher.so")
                environment["TSAN_OPTIONS"] += " ignore_noninstrumented_modules=1"
                environment["OMP_TOOL_LIBRARIES"] = archer[-1] if archer else ""
        for left in self.tapes():
            os.remove(left)
        inherited = {"deadheat": lambda: [mailbox()], "record": lambda: [mailbox(os.path.join(self.room, "tape"), 8 << 30)]}.get(way, list)()
        read, write = os.pipe()
        shell = [os.path.join(self.room, "launch"), "timeout", "-s", "KILL", str(self.limit), *command]
        process = subprocess.Popen(["sh", "-c", 'exec "$0" "$@" 3>&' + str(write), *shell], env=environment, pass_fds=[write, *inherited],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        return process, read, inherited

    def finish(self, started):
        """The costs, or None if the program failed, or was not checked."""
        process, read, mailboxes = started
        with os.fdopen(read) as lines:
            line = lines.readline().split()
        process.wait()
        unchecked = not all(map(is_used, mailboxes))
        for file in mailboxes:
            os.close(file)
        # ThreadSanitizer's status for races is 66, ours stays the program's.
        failed = unchecked or not line or int(line[2]) not in (0, 66 << 8)
        return None if failed else Costs(float(line[0]), float(line[3]), int(line[1]))

    def run(self, way, command, openmp=False):
        return self.finish(self.start(way, command, openmp))


def best(old, new):
    """The least of each cost, of several runs; None is one that failed."""
    return Costs(*map(min, old, new)) if old and new else old or new


def mean(values):
    """The geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def summary(what, rows):
    """What all rows come to: `rows` is (name, ratio to the uninstrumented program, ThreadSanitizer's) of those that have both."""
    if not rows:
        return f"{what}: nothing to compare"
    worst = max(rows, key=lambda row: row[1] / row[2])
    ours, theirs = (mean([row[i] for row in rows]) for i in (1, 2))
    return (f"{what}: geometric mean deadheat {ours:.2f}, tsan {theirs:.2f} times plain, deadheat/tsan {ours / theirs:.2f}; "
            f"worst deadheat/tsan {worst[1] / worst[2]:.2f} ({worst[0]})")
