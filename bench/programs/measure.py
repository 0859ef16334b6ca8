#!/usr/bin/env python3
"""Builds real programs three ways (uninstrumented, by deadheat, by ThreadSanitizer), lets each do a real job a few times in turn, and prints
processor time (the program's and its children's) and peak memory as ratios to the uninstrumented program.
measure.py DEADHEAT [PROGRAM…]
tests/programs/build.sh fetches and builds them, below target/programs (or DEADHEAT_PROGRAMS_DIR); what is built already is used again."""
import os, random, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))
sys.path.append(os.path.dirname(here))
import clients
from launched import Launcher, best, clang, summary

deadheat = os.path.abspath(sys.argv[1])
kept = os.path.abspath(os.environ.get("DEADHEAT_PROGRAMS_DIR", os.path.join(root, "target", "programs")))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
WAYS = ["plain", "deadheat", "tsan"]
cxx = clang().replace("clang", "clang++")
COMPILERS = {"plain": (clang(), cxx), "deadheat": (f"{deadheat} cc --with={clang()}", f"{deadheat} c++ --with={cxx}"),
             "tsan": (f"{clang()} -fsanitize=thread", f"{cxx} -fsanitize=thread")}
SKIPPED = 75  # the status of build.sh


def build(name, way):
    """The directory with the program, or None: build.sh has said why."""
    directory = os.path.join(kept, "bench", way, name)
    program = os.path.join(directory, name)
    made_from = [os.path.join(root, "tests", "programs", "build.sh")] + ([deadheat] if way == "deadheat" else [])
    if os.path.exists(program) and all(os.path.getmtime(program) > os.path.getmtime(source) for source in made_from):
        return directory
    cc, cxx = COMPILERS[way]
    environment = dict(os.environ, CC=cc, CXX=cxx, CFLAGS="-O2 -g", DEADHEAT_PROGRAMS_DIR=kept)
    status = subprocess.run([os.path.join(root, "tests", "programs", "build.sh"), name, directory], env=environment).returncode
    if status not in (0, SKIPPED):
        print(f"{name}: {way} could not be built (status {status}), see {os.path.join(directory, 'log')}", file=sys.stderr)
    return None if status else directory


def text(room, size):
    """A file of words, the same ones each time."""
    path = os.path.join(room, f"text-{size}")
    if not os.path.exists(path):
        dice = random.Random(1)
        words = ["".join(dice.choices("etaoinshrdlucmfw", k=dice.randint(2, 9))) for _ in range(3000)]
        rare = [1 / (rank + 1) for rank in range(len(words))]
        content = " ".join(dice.choices(words, rare, k=size // 4)).encode()
        with open(path, "wb") as file:
            file.write(content[:size])
    return path


def film(room, frames, wide=352, high=288):
    """A film in which a pattern moves past."""
    path = os.path.join(room, f"film-{frames}.y4m")
    if not os.path.exists(path):
        dice = random.Random(2)
        rows = [bytes((128 + x * y // 97 + dice.randrange(24)) % 256 for x in range(wide + 2 * frames)) for y in range(high)]
        grey = bytes([128]) * (wide * high // 2)
        with open(path, "wb") as file:
            file.write(f"YUV4MPEG2 W{wide} H{high} F25:1 C420\n".encode())
            for frame in range(frames):
                file.write(b"FRAME\n" + b"".join(row[2 * frame:2 * frame + wide] for row in rows) + grey)
    return path


# What each does: its command, in a directory for files, after its name. Sizes are such that it takes a third of a second to one second
# uninstrumented.
JOBS = {
    "zstd": lambda room: ["50"],
    "sqlite": lambda room: [os.path.join(room, "sqlite.db"), "9000"],
    "uv": lambda room: ["4000"],
    "leveldb": lambda room: [os.path.join(room, "leveldb.db"), "20000"],
    "imagequant": lambda room: ["600"],
    "lz4": lambda room: ["-9", "-f", "-q", "-T4", text(room, 24 << 20), os.path.join(room, "text.lz4")],
    "pigz": lambda room: ["-11", "-f", "-k", "-p", "4", "-b", "64", text(room, 600_000)],
    "pbzip2": lambda room: ["-f", "-k", "-q", "-p4", "-b3", text(room, 9 << 20)],
    "x264": lambda room: ["--quiet", "--threads", "4", "-o", os.path.join(room, "film.264"), film(room, 60)],
    "memcached": lambda room: ["-u", "root", "-A", "-t", "4", "-m", "64", "-s", os.path.join(room, "socket")],
    "redis": lambda room: ["--port", "0", "--unixsocket", os.path.join(room, "socket"), "--save", "", "--io-threads", "3", "--dir", room],
}
# Who makes a server work, and ends it.
CLIENTS = {
    "memcached": lambda room: clients.memcached(os.path.join(room, "socket")),
    "redis": lambda room: clients.redis(os.path.join(room, "socket"), os.path.join(kept, "bench", "plain", "redis", "redis-benchmark")),
}


def measure(launcher, way, name, directory, room):
    started = launcher.start(way, [os.path.join(directory, name), *JOBS[name](room)], openmp=name == "imagequant")
    try:
        CLIENTS.get(name, lambda room: None)(room)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"{name}: {way}: the client: {error}", file=sys.stderr)
        launcher.finish(started)
        return None
    return launcher.finish(started)


names = sys.argv[2:] or JOBS
rows = []
with tempfile.TemporaryDirectory() as room:
    launcher = Launcher(room, limit=300)
    print(f"{'program':12} {'plain':>8} | {'deadheat':>9} {'tsan':>7}  times | {'deadheat/tsan':>13} | {'plain':>7} | {'deadheat':>9} {'tsan':>7}  times the memory | {'deadheat/tsan':>13}")
    for name in names:
        directories = {}
        for way in WAYS:
            directories[way] = build(name, way)
            if directories[way] is None:
                break
        if None in directories.values():
            continue
        least = {}
        for _ in range(ROUNDS):  # in turn: a slow moment of the machine hits all
            for way in WAYS:
                least[way] = best(least.get(way), measure(launcher, way, name, directories[way], room))
        if not least["plain"]:
            print(f"{name:12} plain failed", flush=True)
            rows.append((name, [None], [None]))
            continue
        columns = []
        for cost in ("processor", "kilobytes"):
            ratios = [getattr(least[way], cost) / getattr(least["plain"], cost) if least[way] else None for way in WAYS[1:]]
            columns.append(ratios)
        shown = lambda value, width: f"{value:{width}.1f}" if value is not None else " " * (width - 6) + "failed"
        beside = lambda ratios: f"{ratios[0] / ratios[1]:13.2f}" if None not in ratios else " " * 13
        (ours, theirs), (our_memory, their_memory) = columns
        print(f"{name:12} {least['plain'].processor:7.3f}s | {shown(ours, 9)} {shown(theirs, 7)}        | {beside(columns[0])} | {least['plain'].kilobytes / 1024:5.0f}MB | "
              f"{shown(our_memory, 9)} {shown(their_memory, 7)}                   | {beside(columns[1])}", flush=True)
        rows.append((name, *columns))
for what, column in (("time", 1), ("memory", 2)):
    print(summary(what, [(row[0], *row[column]) for row in rows if None not in row[column]]))
failed = [name for name, times, _ in rows if None in times]
if failed:
    sys.exit("failed, and not among these: " + ", ".join(failed))
