#!/usr/bin/env python3
"""Checks SARIF of findings of every kind against the standard's own schema, which is not kept here: the crate `serde-sarif` carries
it. check.py DEADHEAT. Needs the package `jsonschema` (pip install jsonschema)."""
import json, os, subprocess, sys, tempfile

try:
    import jsonschema
except ImportError:
    sys.exit("install jsonschema (pip install jsonschema, or apt install python3-jsonschema)")
here = os.path.dirname(os.path.abspath(__file__))
deadheat, project = os.path.abspath(sys.argv[1]), os.path.join(here, "..", "..")
COMMANDS = [
    "check --explore examples/lost-update.tp",
    "check --explore examples/dining-philosophers.tp examples/promise-set-twice.tp",
    "check --all-orders examples/isolated-hides-race.tp",
    "check examples/promise-never-set.tp",
    "check examples/drdp-fig1-fixed.tp",
    "analyze --engine all examples/traces/m2-fig1b.std",
    "explain examples/traces/m2-fig2.std",
]
PROGRAMS = [("examples/native/lost-update.c", [], []), ("tests/predict/lock-in-between.c", [], ["--predict"]),
            ("examples/openmp/forgotten-depend.c", ["-fopenmp"], [])]


def schema():
    with tempfile.TemporaryDirectory() as room:  # it leaves no lock file here
        for name in ("Cargo.toml", "none.rs"):
            with open(os.path.join(here, name)) as file, open(os.path.join(room, name), "w") as copy:
                copy.write(file.read())
        command = ["cargo", "metadata", "--format-version", "1", "--manifest-path", os.path.join(room, "Cargo.toml")]
        packages = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["packages"]
    crate = next(package for package in packages if package["name"] == "serde-sarif")
    with open(os.path.join(os.path.dirname(crate["manifest_path"]), "src", "schema.json")) as file:
        return json.load(file)


def logs(room):
    """What was run, and its SARIF."""
    log = os.path.join(room, "log.sarif")

    def written(words):
        subprocess.run([deadheat, words[0], "-q", f"--sarif={log}", *words[1:]], cwd=project, stdout=subprocess.DEVNULL)
        with open(log) as file:
            return json.load(file)
    for command in COMMANDS:
        yield command, written(command.split())
    for source, build, run in PROGRAMS:
        program = os.path.join(room, "program")
        if subprocess.run([deadheat, "cc", "-O1", "-g", "-pthread", *build, source, "-o", program], cwd=project).returncode == 0:
            yield f"run {source}", written(["run", *run, "--", program])


standard = jsonschema.Draft7Validator(schema())
failed = 0
with tempfile.TemporaryDirectory() as room:
    for command, log in logs(room):
        errors = list(standard.iter_errors(log))
        failed += len(errors)
        print(f"{command}: {len(log['runs'][0]['results'])} results, {len(errors)} errors")
        for error in errors[:5]:
            print("  ", list(error.absolute_path), error.message[:200])
log["runs"][0]["invocations"][0]["executionSuccessful"] = "perhaps"
if not list(standard.iter_errors(log)):
    sys.exit("the schema finds nothing wrong in what is wrong")
sys.exit(1 if failed else 0)
