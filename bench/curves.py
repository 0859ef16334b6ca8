#!/usr/bin/env python3
"""Writes docs/performance.md and its pictures: how costs grow with events, threads, depth and races, ours and the peers'.
curves.py DEADHEAT DEADHEAT-BENCH DOCS
A point is the best of some runs, taken in turn, so that a slow moment of the machine hits all. ROUNDS=n says how many."""
import math, os, platform, subprocess, sys, tempfile, time

here = os.path.dirname(os.path.abspath(__file__))
deadheat, generator, docs = (os.path.abspath(word) for word in sys.argv[1:4])
clang = next((c for c in ("clang-19", "clang") if subprocess.run(["which", c], capture_output=True).returncode == 0), None)
if clang is None:
    sys.exit("install clang-19 (apt install clang-19 libclang-rt-19-dev)")
ROUNDS = int(os.environ.get("ROUNDS", "7"))
WAYS = ["plain", "deadheat", "ThreadSanitizer"]
COLOURS = ["#626d7c", "#0b62c4", "#c42b1c", "#0d7a5f", "#8a5a00", "#7a3fb0"]


def build(room):
    source = os.path.join(here, "curves", "curve.c")
    program = {way: os.path.join(room, way) for way in WAYS}
    flags = ["-O2", "-g", "-pthread", source, "-o"]
    subprocess.run([clang, *flags, program["plain"]], check=True)
    subprocess.run([deadheat, "cc", "--with=" + clang, *flags, program["deadheat"]], check=True)
    subprocess.run([clang, "-fsanitize=thread", *flags, program["ThreadSanitizer"]], check=True)
    return program


def cpu(command, environment=None):
    """The status of a command, and the seconds of processor time that it took: other work on the machine matters less to these."""
    null = subprocess.DEVNULL
    process = subprocess.Popen(command, env=environment, stdout=null, stderr=null)
    _, status, usage = os.wait4(process.pid, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime


def seconds(way, program, words):
    """One run; None if it failed."""
    environment = dict(os.environ, TSAN_OPTIONS="symbolize=0")
    command = [program, *map(str, words)]
    if way == "ThreadSanitizer":  # it may not start where mappings are randomised much
        command = ["setarch", "-R", *command]
    status, took = cpu(command, environment)
    return took if status in (0, 66) else None


def program_curve(programs, words_of, sizes):
    """ns for each access, by way, at each size."""
    curve = {way: [] for way in WAYS}
    for size in sizes:
        words = words_of(size)
        best = {}
        for _ in range(ROUNDS):
            for way in WAYS:
                took = seconds(way, programs[way], words)
                if took is not None:
                    best[way] = min(took, best.get(way, took))
        for way in WAYS:
            all_accesses = words[0] * words[1]
            curve[way].append(best[way] * 1e9 / all_accesses if way in best else None)
    return curve


def trace_curve(room, options_of, sizes, engines):
    """ns for each event, by engine, at each size."""
    curve = {engine: [] for engine in engines}
    for size in sizes:
        trace = os.path.join(room, "trace.dht")
        options = options_of(size)
        subprocess.run([generator, "generate", *options, "-o", trace], check=True)
        events = int(options[options.index("--events") + 1])
        best = {}
        for _ in range(ROUNDS):
            for engine in engines:
                _, took = cpu([deadheat, "analyze", "-q", "--engine", engine, trace])
                best[engine] = min(took, best.get(engine, took))
        for engine in engines:
            curve[engine].append(best[engine] * 1e9 / events)
    return curve


def short(value):
    for unit, size in (("M", 1_000_000), ("k", 1_000)):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def plot(title, unit, size_name, sizes, curve):
    """Both scales are logarithmic; a size of 0 stands before the smallest."""
    wide, high, left, right, top, bottom = 640, 360, 64, 150, 44, 48
    values = [value for line in curve.values() for value in line if value]
    low, most = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    most = max(most, low + 1)
    x = lambda index: left + index * (wide - left - right) / max(1, len(sizes) - 1)
    y = lambda value: high - bottom - (math.log10(value) - low) / (most - low) * (high - top - bottom)
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}">',
           "<style>text{font:12px sans-serif;fill:#1c2430}.title{font-weight:bold;font-size:14px}.grid{stroke:#d5d9e0}"
           "polyline{fill:none;stroke-width:2}</style>",
           f'<rect width="{wide}" height="{high}" fill="#fff"/>', f'<text class="title" x="{left}" y="20">{title}</text>',
           f'<text x="{left}" y="36">{unit}</text>']
    for power in range(low, most + 1):
        at = y(10.0 ** power)
        svg.append(f'<path class="grid" d="M{left} {at:.1f}H{wide - right}"/>'
                   f'<text x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{short(10.0 ** power)}</text>')
    for index, size in enumerate(sizes):
        svg.append(f'<text x="{x(index):.1f}" y="{high - bottom + 18}" text-anchor="middle">{short(size)}</text>')
    svg.append(f'<text x="{(left + wide - right) / 2}" y="{high - 10}" text-anchor="middle">{size_name}</text>')
    ends = []
    for (name, line), colour in zip(curve.items(), COLOURS):
        points = [(x(index), y(value)) for index, value in enumerate(line) if value]
        svg.append(f'<polyline stroke="{colour}" points="' + " ".join(f"{a:.1f},{b:.1f}" for a, b in points) + '"/>')
        svg += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points]
        if points:
            ends.append([points[-1][1], name, colour])
    ends.sort()
    for before, end in zip(ends, ends[1:]):  # names do not cover each other
        end[0] = max(end[0], before[0] + 14)
    svg += [f'<text x="{wide - right + 10}" y="{at + 4:.1f}" style="fill:{colour}">{name}</text>' for at, name, colour in ends]
    return "\n".join(svg) + "\n</svg>\n"


def table(size_name, sizes, curve):
    shown = lambda value: "failed" if value is None else f"{value:.1f}"
    lines = ["| " + " | ".join([size_name, *curve]) + " |", "|" + "---:|" * (len(curve) + 1)]
    for index, size in enumerate(sizes):
        lines.append("| " + " | ".join([f"{size:,}", *(shown(line[index]) for line in curve.values())]) + " |")
    return "\n".join(lines)


PROGRAMS = [
    ("accesses", "Accesses of each of 2 threads", lambda n: (2, n, 4, 0), [100_000, 1_000_000, 10_000_000]),
    ("threads", "Threads, 1,000,000 accesses each", lambda n: (n, 1_000_000, 4, 0), [1, 2, 4, 8, 16]),
    ("depth", "Calls inside one another, 2 threads with 3,000,000 accesses", lambda n: (2, 3_000_000, n, 0), [1, 10, 100, 1000]),
    ("races", "Racy accesses of each of 2 threads, of 3,000,000", lambda n: (2, 3_000_000, 4, n), [0, 10, 100, 1_000, 10_000]),
]
ENGINES = ["hb", "fasttrack", "shb", "wcp", "dc", "m2"]
shape = lambda events, threads, racy=0.0: [
    "--events", str(events), "--threads", str(threads), "--variables", str(max(100, events // 60)), "--locks", "50",
    "--racy-share", str(racy)]
TRACES = [
    ("trace-events", "Events of a trace of 4 threads", lambda n: shape(n, 4), [10_000, 100_000, 1_000_000]),
    ("trace-threads", "Threads of a trace of 200,000 events", lambda n: shape(200_000, n), [2, 8, 32, 128]),
    ("trace-races", "Racy accesses of 200,000 events of 4 threads", lambda n: shape(200_000, 4, n / 200_000), [0, 20, 200, 2_000]),
]

began, load = time.time(), os.getloadavg()[0]
pictures = os.path.join(docs, "pictures")
os.makedirs(pictures, exist_ok=True)
text = ["# Performance", "",
        "Made by `make bench`; not to be edited. A time is worth something only beside others of the same run: every point is "
        f"the best of {ROUNDS}, and what is compared was run in turn, on one machine ({os.cpu_count()} cores, {platform.machine()}, {load:.1f} "
        "processes running when it began). "
        "The tables that `make bench`, `make bench-native` and `make bench-openmp` print have many more kernels.", "",
        "## Programs that are checked while they run", "",
        "[bench/curves/curve.c](../bench/curves/curve.c), built by `clang -O2`, by `deadheat cc -O2`, and with the same clang's "
        "ThreadSanitizer: ns of processor time for each access, starting and ending of the process included. ThreadSanitizer prints "
        "each race that it reports, deadheat writes it to a file."]
with tempfile.TemporaryDirectory() as room:
    programs = build(room)
    for part, curves in (("program", PROGRAMS), ("trace", TRACES)):
        if part == "trace":
            text += ["", "## Recorded runs", "",
                     "Generated traces (`deadheat-bench generate`): ns of processor time for each event, reading the file and checking witnesses "
                     "included."]
        for name, title, words_of, sizes in curves:
            print(title, flush=True)
            if part == "program":
                curve, unit = program_curve(programs, words_of, sizes), "ns an access"
            else:
                curve, unit = trace_curve(room, words_of, sizes, ENGINES), "ns an event"
            size_name = title.split(", ")[0]
            with open(os.path.join(pictures, name + ".svg"), "w") as file:
                file.write(plot(title, unit, size_name, sizes, curve))
            print(table(size_name, sizes, curve), flush=True)
            text += ["", f"### {title}", "", f"![{title}](pictures/{name}.svg)", "", table(size_name, sizes, curve)]
with open(os.path.join(docs, "performance.md"), "w") as file:
    file.write("\n".join(text) + "\n")
print(f"docs/performance.md and its pictures: made in {time.time() - began:.0f} seconds")
