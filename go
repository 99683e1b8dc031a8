#!/usr/bin/env python3
"""Set up and run leastnoise from a checkout, with nothing but Python and pip or uv.

    python3 go demo     show what leastnoise does
    python3 go test     run the whole gate: format, lint, types, layers, tests
    python3 go bench    compare it with other libraries
    python3 go pins     resolve requirements/*.txt again (needs uv)

It writes only inside this checkout: the environment to .venv, caches to .cache.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

# This file uses only syntax that older Pythons can parse, so that they reach this line.
if sys.version_info < (3, 11):  # noqa: UP036  (an older Python may run this file)
    sys.exit(
        "leastnoise needs Python 3.11 or newer, and this is {}.{}. "
        "Run it with a newer one, for example: python3.12 go demo".format(*sys.version_info[:2])
    )

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
VENV_BIN = VENV / "bin"
VENV_PYTHON = VENV_BIN / "python"
STAMP = VENV / "go-stamp.json"
CACHE = ROOT / ".cache"
REQUIREMENTS = ROOT / "requirements"

# The sets of packages for .venv, and the files in requirements that list them. Each set contains
# the sets before it, at the same versions.
SETS = {"demo": ["demo"], "test": ["test"], "all": ["test", "spark"]}

# The oldest Java that Spark supports, and the packages to try in this order.
JAVA = 17
JAVA_PACKAGES = {
    "apt-get": ["default-jre-headless", f"openjdk-{JAVA}-jre-headless"],
    "dnf": ["java-latest-openjdk-headless", f"java-{JAVA}-openjdk-headless"],
    "apk": [f"openjdk{JAVA}-jre-headless"],
}

# The Python behind the one that runs this file, which may itself live in .venv.
BASE_PYTHON: str = getattr(sys, "_base_executable", None) or sys.executable

# Settings of the caller that would install elsewhere or mix in other modules.
MISLEADING = (
    "PIP_PREFIX",
    "PIP_TARGET",
    "PIP_USER",
    "PYTHONHOME",
    "PYTHONPATH",
    "UV_PROJECT_ENVIRONMENT",
    "VIRTUAL_ENV",
)
COLOR_FORCING = ("CLICOLOR_FORCE", "FORCE_COLOR", "PY_COLORS")

Command = Sequence[str | Path]


class StepFailed(Exception):
    """A command failed after printing the reason."""

    def __init__(self, step: str, code: int) -> None:
        super().__init__(step)
        self.step = step
        self.code = code


def main() -> int:
    """Run the command on the command line and return the exit code."""
    options, rest = parse(sys.argv[1:])
    try:
        return int(options.run(options, rest))
    except StepFailed as failure:
        say(f"failed: {failure.step} (exit code {failure.code})")
        return failure.code
    except KeyboardInterrupt:
        say("stopped")
        return 130


def parse(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Split the command line into options of go and arguments to pass on unchanged."""
    parser = argparse.ArgumentParser(
        prog="go", description="Set up and run leastnoise.", allow_abbrev=False
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="show what leastnoise does", allow_abbrev=False)
    demo.set_defaults(run=run_demo, passes_on=True)

    test = commands.add_parser(
        "test",
        help="run the gate; further arguments go to pytest",
        allow_abbrev=False,
    )
    test.add_argument("--all", action="store_true", help="also run long tests")
    test.add_argument(
        "--install-services",
        action="store_true",
        help="as root, install Java for Spark if it is missing",
    )
    test.set_defaults(run=run_test, passes_on=True)

    bench = commands.add_parser(
        "bench",
        help="compare speed, accuracy and size with other libraries",
        description="Compare speed, accuracy and size with other libraries. A full run takes "
        "twenty minutes. Further arguments go to benchmarks: --quick or --short for a smaller "
        "run, --alone without other libraries, --only NAME…, --out FOLDER, --seconds S for one "
        "solve, --render to write pages and figures again without measuring.",
        allow_abbrev=False,
    )
    bench.set_defaults(run=run_bench, passes_on=True)

    pins = commands.add_parser("pins", help="resolve requirements/*.txt again", allow_abbrev=False)
    pins.add_argument("--upgrade", action="store_true", help="move every pin to the newest version")
    pins.set_defaults(run=run_pins, passes_on=False)

    options, rest = parser.parse_known_args(arguments)
    if rest and not options.passes_on:
        parser.error(f"unknown: {shlex.join(rest)}")
    return options, rest


# ------------------------------------------------------------------------------- the commands


def run_demo(_options: argparse.Namespace, rest: list[str]) -> int:
    """Run the demonstration."""
    prepare("demo")
    must("run the demo", [VENV_PYTHON, "examples/demo.py", *rest])
    return 0


def run_bench(_options: argparse.Namespace, rest: list[str]) -> int:
    """Run the benchmarks, which create separate environments for other libraries."""
    prepare("test")
    must("run the benchmarks", [VENV_PYTHON, "-m", "benchmarks", *rest])
    return 0


def run_test(options: argparse.Namespace, rest: list[str]) -> int:
    """Run every step of the gate, also after a failure, then print a summary."""
    prepare("all" if options.all else "test")
    if options.install_services:
        install_java()

    pytest: list[str | Path] = [VENV_PYTHON, "-m", "pytest", "-n", "auto", "--dist", "worksteal"]
    if not sys.stdout.isatty():
        pytest.append("--color=no")
    if not options.all:
        pytest += ["-m", "not long"]
    linter_cache = CACHE / "import-linter"
    steps: dict[str, Command] = {
        "ruff format": [VENV_BIN / "ruff", "format", "--check", "."],
        "ruff check": [VENV_BIN / "ruff", "check", "."],
        "mypy": [VENV_PYTHON, "-m", "mypy"],
        "lint-imports": [VENV_BIN / "lint-imports", "--no-logo", "--cache-dir", linter_cache],
        "pytest": [*pytest, *rest],
    }

    rows = []
    for name, command in steps.items():
        print(f"\n== {name}", flush=True)
        start = time.monotonic()
        code = run(command)
        rows.append((name, code, time.monotonic() - start))

    print("\n== summary")
    for name, code, seconds in rows:
        verdict = "ok" if code == 0 else f"FAILED (exit code {code})"
        print(f"{name:<14}{seconds:7.1f} s   {verdict}")
    omitted = [] if options.all else ["tests marked long, with Spark (python3 go test --all)"]
    if rest:
        omitted.append(f"tests that pytest omits with {shlex.join(rest)}")
    print(f"omitted: {'; '.join(omitted) or 'nothing'}", flush=True)
    return 1 if any(code for _, code, _ in rows) else 0


def run_pins(options: argparse.Namespace, _rest: list[str]) -> int:
    """Resolve pyproject.toml into one set of versions for every Python and system we support.

    The largest set is resolved first and constrains the others, so all fit into one .venv.
    """
    uv = find_uv()
    if uv is None:
        say("pins need uv, which is not on PATH. Install it: pip install uv")
        return 2
    bound = ["-c", "requirements/test.txt"]
    sets = {
        "test.txt": ["pyproject.toml", "--extra", "plots", "--group", "test"],
        "spark.txt": ["--group", "spark", *bound],
        "demo.txt": ["pyproject.toml", "--extra", "plots", "--extra", "tables", *bound],
        "build.txt": ["--group", "build", *bound],
    }
    REQUIREMENTS.mkdir(exist_ok=True)
    for name, chosen in sets.items():
        target = f"requirements/{name}"
        say(f"resolving {target}")
        compile_pins = [uv, "pip", "compile", *chosen, "--output-file", target]
        compile_pins += ["--universal", "--python-version", "3.11", "--fork-strategy", "fewest"]
        compile_pins += ["--no-emit-index-url", "--no-emit-find-links", "--quiet"]
        compile_pins += ["--custom-compile-command", "python3 go pins"]
        if options.upgrade:
            compile_pins.append("--upgrade")
        must(f"resolve {target}", compile_pins)
    return 0


# ------------------------------------------------------------------------------- the environment


def prepare(wanted: str) -> None:
    """Fill .venv with the pinned packages of one of SETS and with leastnoise itself.

    A stamp in .venv records its inputs, so that the next run starts immediately.
    """
    place = digest(str(ROOT), sys.version, sys.base_prefix)
    stamp = read_stamp()
    fits = stamp.get("place") == place and VENV_PYTHON.exists()
    if fits and stamp.get(wanted) == digest_of_pins(wanted):
        return

    if VENV.exists() and not stamp:
        sys.exit("go: .venv exists and was not created by this script. Move it away and run again.")
    if VENV.exists() and not fits:
        say("removing .venv, which belongs to another Python or another folder")
        shutil.rmtree(VENV)
    installer = Installer.find()
    if not fits:
        say(f"setting up .venv, first run only (Python {sys.version.split()[0]}, {installer.name})")
        try:
            must("create .venv", installer.make_venv)
        except StepFailed:
            shutil.rmtree(VENV, ignore_errors=True)
            raise
        stamp = {"place": place}
        write_stamp(stamp)
    files = [f"requirements/{name}.txt" for name in SETS[wanted]]
    say(f"installing pinned packages ({', '.join(files)})")
    chosen = [word for file in ("requirements/build.txt", *files) for word in ("-r", file)]
    must("install pinned packages", [*installer.install, *chosen])
    say("installing leastnoise (editable)")
    ourselves = ["--no-deps", "--no-build-isolation", "--editable", "."]
    must("install leastnoise", [*installer.install, *ourselves])

    for name in list(SETS)[: list(SETS).index(wanted) + 1]:
        stamp[name] = digest_of_pins(name)
    write_stamp(stamp)


class Installer:
    """The tool that creates and fills .venv: uv, the pip of the calling Python, or venv's own."""

    def __init__(self, name: str, make_venv: Command, install: Command) -> None:
        self.name = name
        self.make_venv = make_venv
        self.install = install

    @staticmethod
    def find() -> "Installer":
        """Choose the first tool that is available.

        With pip, .venv is created empty and filled from outside. This needs neither ensurepip,
        which Debian packages separately, nor write access to system packages. The pins
        include pip, so an activated .venv has its own.
        """
        uv = find_uv()
        if uv is not None:
            quiet = [uv, "--quiet", "--no-python-downloads"]
            make_venv: Command = [*quiet, "venv", "--python", BASE_PYTHON, VENV]
            return Installer("uv", make_venv, [*quiet, "pip", "install", "--python", VENV_PYTHON])

        make_venv = [BASE_PYTHON, "-m", "venv"]
        options = ["-qq", "--disable-pip-version-check", "--no-compile"]
        for python in dict.fromkeys([sys.executable, BASE_PYTHON]):
            if works([python, "-m", "pip", "--version"]):
                pip: Command = [python, "-m", "pip", "--python", VENV_PYTHON, "install"]
                return Installer("pip", [*make_venv, "--without-pip", VENV], [*pip, *options])
        if works([BASE_PYTHON, "-m", "ensurepip", "--version"]):
            pip = [VENV_PYTHON, "-m", "pip", "install"]
            return Installer("pip of venv", [*make_venv, VENV], [*pip, *options])
        say(
            "neither uv nor pip was found. Install one of them, for example by "
            "'apt-get install python3-pip' on Debian and Ubuntu, then run this again."
        )
        sys.exit(2)


def find_uv() -> str | None:
    """Return the path of uv if it runs; the shim of a version manager may not."""
    uv = shutil.which("uv")
    return uv if uv is not None and works([uv, "--version"]) else None


def read_stamp() -> dict[str, str]:
    """Return the recorded inputs of .venv, or nothing if they cannot be read."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def write_stamp(stamp: dict[str, str]) -> None:
    """Record the inputs of .venv."""
    STAMP.write_text(json.dumps(stamp), encoding="utf-8")


def digest_of_pins(wanted: str) -> str:
    """Digest the files that determine the content of .venv for one set."""
    sources = [REQUIREMENTS / f"{name}.txt" for name in ("build", *SETS[wanted])]
    sources.append(ROOT / "pyproject.toml")
    return digest(*(source.read_text(encoding="utf-8") for source in sources))


def digest(*parts: str) -> str:
    """Digest strings, including where each one ends."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


# ------------------------------------------------------------------------------- services


def install_java() -> None:
    """Install Java for Spark with the system's package manager if it is missing."""
    version = java_version()
    if version >= JAVA:
        say(f"nothing to install: found Java {version}")
        return
    manager = next((name for name in JAVA_PACKAGES if shutil.which(name)), None)
    if manager is None or os.geteuid() != 0:
        say(
            f"Spark needs Java {JAVA} or newer. As root, install it with "
            f"{' or '.join(JAVA_PACKAGES)}, then run this again."
        )
        raise StepFailed("install Java", 2)
    say(f"installing Java for Spark with {manager}")
    if manager == "apt-get":
        run(["apt-get", "update", "--quiet=2"])
    add = {"apk": ["apk", "add"], "apt-get": ["apt-get", "install", "--yes", "--quiet=2"]}
    for package in JAVA_PACKAGES[manager]:
        run([*add.get(manager, [manager, "install", "--assumeyes"]), package])
        if java_version() >= JAVA:
            return
    say(f"Java {JAVA} or newer could not be installed; see the lines above")
    raise StepFailed("install Java", 1)


def java_version() -> int:
    """Return the major version of the Java that Spark would use; 0 if there is none."""
    home = os.environ.get("JAVA_HOME")
    java = Path(home, "bin", "java") if home else "java"
    try:
        result = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return 0
    version = re.search(r'version "(\d+)', result.stderr)
    return int(version[1]) if version else 0


# ------------------------------------------------------------------------------- running commands


def run(command: Command) -> int:
    """Run a command in the checkout and return its exit code as a shell would."""
    sys.stdout.flush()
    try:
        code = subprocess.run(command, cwd=ROOT, env=environment(), check=False).returncode
    except OSError as error:
        say(f"cannot run {command[0]}: {error.strerror}")
        return 127
    return code if code >= 0 else 128 - code


def works(command: Command) -> bool:
    """Return whether a command exists and succeeds. Hide its output."""
    try:
        result = subprocess.run(
            command, cwd=ROOT, env=environment(), capture_output=True, check=False
        )
    except OSError:
        return False
    return result.returncode == 0


def must(step: str, command: Command) -> None:
    """Run a command that later commands depend on."""
    code = run(command)
    if code != 0:
        raise StepFailed(step, code)


def environment() -> dict[str, str]:
    """Return the environment for commands: caches in this checkout, no color off a terminal."""
    variables = {name: value for name, value in os.environ.items() if name not in MISLEADING}
    variables.setdefault("PIP_CACHE_DIR", str(CACHE / "pip"))
    variables.setdefault("UV_CACHE_DIR", str(CACHE / "uv"))
    if not sys.stdout.isatty():
        variables = {name: value for name, value in variables.items() if name not in COLOR_FORCING}
        variables["NO_COLOR"] = "1"
    return variables


def say(message: str) -> None:
    """Report progress on stderr, apart from the output of commands."""
    print(f"go: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
