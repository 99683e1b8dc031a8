"""Environments for the measured libraries, created once under .cache/bench by uv or pip."""

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
    """An environment is missing; the message gives the reason."""


def of_peer(name: str, *, create: bool) -> Path:
    """Return the folder of a peer's environment. ``create`` allows to create a missing one."""
    pins = PINS / f"{name}.txt"
    return _environment(name, ["-r", str(pins)], [pins], create=create)


def of_ourselves(*, create: bool) -> Path:
    """Return the folder of an environment with only leastnoise and its dependencies."""
    pins = ROOT / "requirements" / "test.txt"
    sources = [ROOT / "pyproject.toml", pins, *sorted((ROOT / "src").rglob("*.py"))]
    return _environment("leastnoise", ["-c", str(pins), str(ROOT)], sources, create=create)


def pinned(name: str) -> frozenset[str]:
    """Return the names of the pinned packages of a peer."""
    lines = (PINS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line.partition("==")[0] for line in lines if not line.startswith("#"))


def python_of(folder: Path) -> Path:
    """Return the Python of an environment."""
    return folder / "bin" / "python"


def packages_of(folder: Path) -> Path:
    """Return the folder with the packages of an environment."""
    return next((folder / "lib").glob("python3.*/site-packages"))


def _environment(
    name: str, requirements: Sequence[str], sources: Sequence[Path], *, create: bool
) -> Path:
    """Return an environment for these sources. One from other sources is created again."""
    folder, texts = CACHE / name, [source.read_bytes() for source in sources]
    digest = hashlib.sha256(b"\0".join([sys.version.encode(), *texts])).hexdigest()
    stamp = folder / "bench-stamp"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == digest:
        return folder
    if not create:
        raise Missing("its environment is missing, and a quick run creates none")
    shutil.rmtree(folder, ignore_errors=True)
    CACHE.mkdir(parents=True, exist_ok=True)
    for step in _steps(folder, requirements):
        # The output of an installer may contain addresses of this machine: it is shown, not stored.
        done = subprocess.run(step, cwd=ROOT, stdout=sys.stderr, check=False)  # noqa: S603 -- a fixed command
        if done.returncode:
            raise Missing(f"it could not be installed here (exit code {done.returncode})")
    stamp.write_text(digest, encoding="utf-8")
    return folder


def _steps(folder: Path, requirements: Sequence[str]) -> list[list[str]]:
    python, uv = str(python_of(folder)), shutil.which("uv")
    if uv is not None and _works(uv):
        create = [uv, "--quiet", "venv", "--python", sys.executable, str(folder)]
        return [create, [uv, "--quiet", "pip", "install", "--python", python, *requirements]]
    pip = [python, "-m", "pip", "-qq", "--disable-pip-version-check", "install", *requirements]
    return [[sys.executable, "-m", "venv", str(folder)], pip]


def _works(uv: str) -> bool:
    """Return whether uv runs; the shim of a version manager may not."""
    trial = subprocess.run([uv, "--version"], capture_output=True, check=False)  # noqa: S603 -- a fixed command
    return trial.returncode == 0
