"""Store certificates of solved problems in the user's cache, and load them again.

A stored certificate is not trusted: it must be for the same problem, and it is verified again. A
cache that cannot be read or written is ignored. ``LEASTNOISE_CACHE`` names another folder, or is
``off``.
"""

import contextlib
import hashlib
import os
from pathlib import Path

from leastnoise.calibration.problem import Problem
from leastnoise.certificate import SHAPE_WORDS, Certificate
from leastnoise.costs import Cost
from leastnoise.errors import LeastnoiseError
from leastnoise.files import write_text

_VARIABLE = "LEASTNOISE_CACHE"


def load(problem: Problem) -> Certificate | None:
    """Return the stored certificate of a problem, verified again, or None."""
    path = _path(problem)
    if path is None:
        return None
    try:
        certificate = Certificate.from_json(path.read_text(encoding="utf-8"))
        proved = (
            certificate.privacy,
            certificate.sensitivity,
            certificate.objective,
            certificate.integer,
            certificate.shape,
        )
        if Problem(*proved) != problem:
            return None
        certificate.verify()
    except (OSError, ValueError, LeastnoiseError):
        return None
    return certificate


def save(problem: Problem, certificate: Certificate) -> None:
    """Store a proved certificate."""
    path = _path(problem)
    if path is None or certificate.shape != problem.shape:
        return
    with contextlib.suppress(OSError, LeastnoiseError):
        text = certificate.to_json()
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)


def _path(problem: Problem) -> Path | None:
    """Return the file of a problem; None if it is not stored, as for the cost of a function."""
    setting = os.environ.get(_VARIABLE, "")
    if setting == "off" or type(problem.cost) is Cost:
        return None
    import platformdirs

    folder = Path(setting or platformdirs.user_cache_dir("leastnoise", appauthor=False))
    # Files that earlier versions wrote have this key.
    numbers = f"({problem.privacy!r}, {problem.sensitivity!r}, {problem.cost.stored_name})"
    key = f"{numbers} {problem.integer} {SHAPE_WORDS[problem.shape]}"
    return folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"
