"""Proved solutions kept for the next time, in the user's cache.

What is read is not trusted: it must be a certificate for the question that is asked, and it is
proved again. A cache that cannot be read or written is as good as none. ``LEASTNOISE_CACHE`` names
another folder, or is ``off``.
"""

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

from leastnoise.calibration.problem import Problem
from leastnoise.certificate import Certificate
from leastnoise.costs import Cost
from leastnoise.errors import LeastnoiseError

_VARIABLE = "LEASTNOISE_CACHE"


def load(problem: Problem) -> Certificate | None:
    """Return a certificate for the question, proved again, or None."""
    path = _path(problem)
    if path is None:
        return None
    try:
        certificate = Certificate.from_json(path.read_text(encoding="utf-8"))
        if _asked_by(certificate) != (*_stated(problem), problem.integer, problem.among):
            return None
        certificate.check()
    except (OSError, ValueError, LeastnoiseError):
        return None
    return certificate


def save(problem: Problem, certificate: Certificate) -> None:
    """Keep a proved certificate; the file is there whole or not at all."""
    path = _path(problem)
    if path is None or _asked_by(certificate)[-1] != problem.among:
        return
    with contextlib.suppress(OSError, LeastnoiseError):
        text = certificate.to_json()
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)


def _asked_by(certificate: Certificate) -> tuple[object, ...]:
    stated = (certificate.privacy, certificate.sensitivity, certificate.objective)
    return (*stated, certificate.integer, certificate.among)


def _stated(problem: Problem) -> tuple[object, ...]:
    return (problem.privacy, problem.sensitivity, problem.cost)


def _path(problem: Problem) -> Path | None:
    """Return the file of a question; None where nothing is kept, as for a function's cost."""
    wanted = os.environ.get(_VARIABLE, "")
    if wanted == "off" or type(problem.cost) is Cost:
        return None
    import platformdirs

    folder = Path(wanted or platformdirs.user_cache_dir("leastnoise", appauthor=False))
    key = f"{_stated(problem)} {problem.integer} {problem.among}"
    return folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"
