#!/usr/bin/env python3
"""Builds every kernel of a directory four ways, runs each a few times in turn, prints time and peak memory as ratios to
the uninstrumented program. Those of threads that deadheat has built are run twice: checked, and recorded.
measure.py DEADHEAT DIRECTORY [KERNEL…]
In the directory `openmp` the peer is ThreadSanitizer with Archer, and teams have two threads."""
import glob, math, os, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(here))
from mailbox_of_run import mailbox

deadheat = os.path.abspath(sys.argv[1])
directory = os.path.abspath(sys.argv[2])
openmp = os.path.basename(directory) == "openmp"
clang = next((c for c in ("clang-19", "clang") if subprocess.run(["which", c], capture_output=True).returncode == 0), None)
if clang is None:
    sys.exit("install clang-19 (apt install clang-19 libclang-rt-19-dev)")
ROUNDS = int(os.environ.get("ROUNDS", "3"))
WAYS = ["plain", "hooks", "deadheat", "tsan"] + ([] if openmp else ["record"])
FLAGS = ["-O2", "-g", "-fopenmp" if openmp else "-pthread"]


def source_of(kernel):
    return next(path for path in (os.path.join(directory, kernel + ending) for ending in (".c", ".cpp")) if os.path.exists(path))


def build(kernel, room):
    source = source_of(kernel)
    cxx = ["-lstdc++"] if source.endswith(".cpp") else []
    program = {way: os.path.join(room, f"{kernel}-{way}") for way in WAYS}
    program["record"] = program["deadheat"]
    run = lambda *command: subprocess.run(command, check=True)
    run(clang, *FLAGS, source, *cxx, "-lm", "-o", program["plain"])
    run(clang, *FLAGS, "-fsanitize=thread", "-c", source, "-o", program["hooks"] + ".o")
    run(clang, "-O2", "-c", os.path.join(here, "hooks.c"), "-o", os.path.join(room, "hooks.o"))
    run(clang, FLAGS[-1], program["hooks"] + ".o", os.path.join(room, "hooks.o"), *cxx, "-lm", "-o", program["hooks"])
    run(deadheat, "cc", "--with=" + clang, *FLAGS, source, *cxx, "-lm", "-o", program["deadheat"])
    run(clang, *FLAGS, "-fsanitize=thread", source, *cxx, "-lm", "-o", program["tsan"])
    return program


def measure(way, program, room):
    """Seconds and kilobytes of one run, or None if it failed."""
    command = [program]
    environment = dict(os.environ)
    if openmp:
        environment["OMP_NUM_THREADS"] = "2"
    if way == "tsan":  # it may not start where mappings are randomised much
        command = ["setarch", "-R", program]
        environment["TSAN_OPTIONS"] = "symbolize=0"
        if openmp:
            archer = glob.glob("/usr/lib/llvm-*/lib/libarcher.so")
            environment["TSAN_OPTIONS"] += " ignore_noninstrumented_modules=1"
            environment["OMP_TOOL_LIBRARIES"] = archer[-1] if archer else ""
    tapes = os.path.join(room, "tape")
    for left in glob.glob(tapes + ".*"):
        os.remove(left)
    inherited = []
    if way == "deadheat":
        inherited = [mailbox()]
    if way == "record":
        inherited = [mailbox(tapes, 8 << 30)]
    read, write = os.pipe()
    shell = [os.path.join(room, "launch"), "timeout", "-s", "KILL", "100", *command]
    process = subprocess.Popen(["sh", "-c", 'exec "$0" "$@" 3>&' + str(write), *shell], env=environment, pass_fds=[write, *inherited],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for file in (write, *inherited):
        os.close(file)
    line = os.fdopen(read).readline().split()
    process.wait()
    # ThreadSanitizer's status for races is 66, ours stays the program's.
    failed = not line or int(line[2]) not in (0, 66 << 8)
    tape = sum(map(os.path.getsize, glob.glob(tapes + ".*")))
    return None if failed else (float(line[0]), int(line[1]), tape)


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


kernels = sys.argv[3:] or sorted(name.rsplit(".", 1)[0] for name in os.listdir(directory) if name.endswith((".c", ".cpp")) and name not in ("hooks.c", "launch.c"))
rows = {}
with tempfile.TemporaryDirectory() as room:
    subprocess.run([clang, "-O1", os.path.join(here, "launch.c"), "-o", os.path.join(room, "launch")], check=True)
    print(f"{'kernel':18} {'plain':>8} | {'hooks':>7} {'deadheat':>9} {'tsan':>7} {'record':>7}  times | {'plain':>7} | {'deadheat':>9} {'tsan':>7}  times the memory | {'tape':>7}")
    for kernel in kernels:
        group = open(source_of(kernel)).readline().split()[1].rstrip(":")
        programs = build(kernel, room)
        best = {}
        for _ in range(ROUNDS):  # in turn: a slow moment of the machine hits all
            for way in WAYS:
                result = measure(way, programs[way], room)
                if result:
                    old = best.get(way, result)
                    best[way] = tuple(map(min, old, result))
        ratio = lambda way, i: best[way][i] / best["plain"][i] if way in best else None
        shown = lambda value, width: f"{value:{width}.1f}" if value is not None else " " * (width - 6) + "failed"
        rows[kernel] = (group, [ratio(way, 0) for way in WAYS], [ratio(way, 1) for way in WAYS])
        time_, memory = rows[kernel][1:]
        print(f"{kernel:18} {best['plain'][0]:7.3f}s | {shown(time_[1], 7)} {shown(time_[2], 9)} {shown(time_[3], 7)} "
              f"{shown(time_[4], 7) if 'record' in WAYS else '':7}        | "
              f"{best['plain'][1] / 1024:5.0f}MB | {shown(memory[2], 9)} {shown(memory[3], 7)}                   | "
              f"{best.get('record', (0, 0, 0))[2] / 2**20:5.0f}MB", flush=True)
for group in ("users", "kind", "tasks", "loops", "hard"):
    both = [r for g, *r in rows.values() if g == group and None not in r[0]]
    if both:
        times = [mean([r[0][i] for r in both]) for i in range(len(WAYS))]
        memory = [mean([r[1][i] for r in both]) for i in range(len(WAYS))]
        print(f"geometric mean, {group} ({len(both)}): hooks {times[1]:.1f}, deadheat {times[2]:.1f}, tsan {times[3]:.1f} times; "
              f"memory deadheat {memory[2]:.1f}, tsan {memory[3]:.1f} times; deadheat/tsan {times[2] / times[3]:.2f} in time, {memory[2] / memory[3]:.2f} in memory"
              + (f"; record/deadheat {times[4] / times[2]:.2f} in time" if "record" in WAYS else ""))
