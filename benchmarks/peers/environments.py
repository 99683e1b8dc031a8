"""Environments for what is measured: made once under .cache/bench, from pins, by uv or by pip."""

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "bench"
PINS = ROOT / "benchmarks" / "peers"
PEERS = ("diffprivlib", "opendp", "python-dp")


class Missing(Exception):
    """There is no such environment; the text says why."""


def of_peer(name: str, *, make: bool) -> Path:
    """Return the folder of a peer's environment, made if need be and ``make`` says so."""
    pins = PINS / f"{name}.txt"
    return _environment(name, ["-r", str(pins)], [pins], make=make)


def of_ourselves(*, make: bool) -> Path:
    """Return the folder of an environment with leastnoise and what it needs, nothing more."""
    pins = ROOT / "requirements" / "test.txt"
    sources = [ROOT / "pyproject.toml", pins, *sorted((ROOT / "src").rglob("*.py"))]
    return _environment("leastnoise", ["-c", str(pins), str(ROOT)], sources, make=make)


def pinned(name: str) -> frozenset[str]:
    """Return the packages that a peer's environment is made of."""
    lines = (PINS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line.partition("==")[0] for line in lines if not line.startswith("#"))


def python_of(folder: Path) -> Path:
    """Return the Python of an environment."""
    return folder / "bin" / "python"


def packages_of(folder: Path) -> Path:
    """Return where an environment keeps its packages."""
    return next((folder / "lib").glob("python3.*/site-packages"))


def _environment(name: str, wanted: Sequence[str], sources: Sequence[Path], *, make: bool) -> Path:
    """Return an environment made from these sources; one made from others is made anew."""
    folder, texts = CACHE / name, [source.read_bytes() for source in sources]
    made_from = hashlib.sha256(b"\0".join([sys.version.encode(), *texts])).hexdigest()
    stamp = folder / "bench-stamp"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == made_from:
        return folder
    if not make:
        raise Missing("its environment is not there yet, and a quick run makes none")
    shutil.rmtree(folder, ignore_errors=True)
    CACHE.mkdir(parents=True, exist_ok=True)
    for step in _steps(folder, wanted):
        # What an installer says may name this machine's addresses: it is shown, not kept.
        done = subprocess.run(step, cwd=ROOT, stdout=sys.stderr, check=False)  # noqa: S603 -- ours
        if done.returncode:
            raise Missing(f"it could not be installed here (exit code {done.returncode})")
    stamp.write_text(made_from, encoding="utf-8")
    return folder


def _steps(folder: Path, wanted: Sequence[str]) -> list[list[str]]:
    python, uv = str(python_of(folder)), shutil.which("uv")
    if uv is not None and _works(uv):
        make = [uv, "--quiet", "venv", "--python", sys.executable, str(folder)]
        return [make, [uv, "--quiet", "pip", "install", "--python", python, *wanted]]
    pip = [python, "-m", "pip", "-qq", "--disable-pip-version-check", "install", *wanted]
    return [[sys.executable, "-m", "venv", str(folder)], pip]


def _works(uv: str) -> bool:
    """Tell whether uv runs; a version manager's stand-in for it may not."""
    tried = subprocess.run([uv, "--version"], capture_output=True, check=False)  # noqa: S603 -- ours
    return tried.returncode == 0
