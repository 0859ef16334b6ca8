#!/usr/bin/env python3
"""Builds every kernel of a directory six ways, runs each a few times in turn, prints processor time and peak memory as
ratios to the uninstrumented program, and last deadheat's time over ThreadSanitizer's. "hooks" is clang's own pass with functions
that do nothing, "marks" deadheat's pass with such; "clang" is deadheat with clang's own pass. Those of threads that deadheat has built
are run twice: checked, and recorded. DEADHEAT_INSTRUMENT can leave out parts of deadheat's pass: -own,-loops,-told.
measure.py DEADHEAT DIRECTORY [KERNEL…]
In the directory `openmp` the peer is ThreadSanitizer with Archer, and teams have two threads."""
import os, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(here))
from launched import Launcher, best, clang, mean, summary

deadheat = os.path.abspath(sys.argv[1])
directory = os.path.abspath(sys.argv[2])
openmp = os.path.basename(directory) == "openmp"
clang = clang()
ROUNDS = int(os.environ.get("ROUNDS", "3"))
WAYS = ["plain", "hooks", "deadheat", "tsan", "marks", "clang"] + ([] if openmp else ["record"])
FLAGS = ["-O2", "-g", "-fopenmp" if openmp else "-pthread"]


def source_of(kernel):
    return next(path for path in (os.path.join(directory, kernel + ending) for ending in (".c", ".cpp")) if os.path.exists(path))


def build(kernel, room):
    source = source_of(kernel)
    libraries = ["-lstdc++", "-lm"] if source.endswith(".cpp") else ["-lm"]
    program = {way: os.path.join(room, f"{kernel}-{way}") for way in WAYS}
    program["record"] = program["deadheat"]
    run = lambda *command: subprocess.run(command, check=True)
    run(clang, *FLAGS, source, *libraries, "-o", program["plain"])
    run(clang, *FLAGS, "-fsanitize=thread", "-c", source, "-o", program["hooks"] + ".o")
    run(clang, "-O2", "-c", os.path.join(here, "hooks.c"), "-o", os.path.join(room, "hooks.o"))
    run(clang, FLAGS[-1], program["hooks"] + ".o", os.path.join(room, "hooks.o"), *libraries, "-o", program["hooks"])
    build = [deadheat, "cc", "--with=" + clang, *FLAGS, source]
    run(*build, "-c", "-o", program["marks"] + ".o")
    run(clang, FLAGS[-1], program["marks"] + ".o", os.path.join(room, "hooks.o"), *libraries, "-o", program["marks"])
    run(*build, *libraries, "-o", program["deadheat"])
    run("env", "DEADHEAT_INSTRUMENT=clang", *build, *libraries, "-o", program["clang"])
    run(clang, *FLAGS, "-fsanitize=thread", source, *libraries, "-o", program["tsan"])
    return program


kernels = sys.argv[3:] or sorted(name.rsplit(".", 1)[0] for name in os.listdir(directory) if name.endswith((".c", ".cpp")) and name != "hooks.c")
rows = {}
with tempfile.TemporaryDirectory() as room:
    launcher = Launcher(room)
    print(f"{'kernel':18} {'plain':>8} | {'hooks':>7} {'marks':>7} {'deadheat':>9} {'clang':>7} {'tsan':>7} {'record':>7}  times | {'plain':>7} | {'deadheat':>9} {'tsan':>7}  times the memory | {'tape':>7} | deadheat/tsan")
    for kernel in kernels:
        group = open(source_of(kernel)).readline().split()[1].rstrip(":")
        programs = build(kernel, room)
        least, tape = {}, 0
        for _ in range(ROUNDS):  # in turn: a slow moment of the machine hits all
            for way in WAYS:
                least[way] = best(least.get(way), launcher.run(way, [programs[way]], openmp))
                tape = sum(map(os.path.getsize, launcher.tapes())) or tape
        plain = least["plain"]
        ratio = lambda way, cost: getattr(least[way], cost) / getattr(plain, cost) if least[way] else None
        shown = lambda value, width: f"{value:{width}.{1 if value >= 10 else 2}f}" if value is not None else " " * (width - 6) + "failed"
        rows[kernel] = (group, [ratio(way, "processor") for way in WAYS], [ratio(way, "kilobytes") for way in WAYS])
        time_, memory = rows[kernel][1:]
        over_tsan = time_[2] / time_[3] if None not in time_[2:4] else None
        print(f"{kernel:18} {plain.processor:7.3f}s | {shown(time_[1], 7)} {shown(time_[4], 7)} {shown(time_[2], 9)} {shown(time_[5], 7)} {shown(time_[3], 7)} "
              f"{shown(time_[6], 7) if 'record' in WAYS else '':7}        | "
              f"{plain.kilobytes / 1024:5.0f}MB | {shown(memory[2], 9)} {shown(memory[3], 7)}                   | "
              f"{tape / 2**20:5.0f}MB | {shown(over_tsan, 13)}", flush=True)
for group in ("users", "kind", "tasks", "loops", "hard"):
    both = [r for g, *r in rows.values() if g == group and None not in r[0]]
    if both:
        times = [mean([r[0][i] for r in both]) for i in range(len(WAYS))]
        memory = [mean([r[1][i] for r in both]) for i in range(len(WAYS))]
        print(f"geometric mean, {group} ({len(both)}): hooks {times[1]:.1f}, marks {times[4]:.1f}, deadheat {times[2]:.1f}, with clang's pass {times[5]:.1f}, tsan {times[3]:.1f} times; "
              f"memory deadheat {memory[2]:.1f}, tsan {memory[3]:.1f} times; deadheat/tsan {times[2] / times[3]:.2f} in time, {memory[2] / memory[3]:.2f} in memory"
              + (f"; record/deadheat {times[6] / times[2]:.2f} in time" if "record" in WAYS else ""))
for what, cost in (("all, time", 0), ("all, memory", 1)):
    print(summary(what, [(kernel, r[cost][2], r[cost][3]) for kernel, (_, *r) in rows.items() if None not in r[cost]]))
