"""Suggest the nearest spelling of a name, for the advice of errors."""

from collections.abc import Iterable
from pathlib import Path

_LIKENESS = 0.65


def find_nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the name that a misspelled one probably means; None if none is near.

    >>> find_nearest("nort", ["north", "south"])
    'north'
    """
    from difflib import get_close_matches  # only where there is an error

    near = get_close_matches(name, sorted(names), n=1, cutoff=_LIKENESS)
    return near[0] if near else None


def find_nearest_file(path: Path, suffixes: Iterable[str]) -> str | None:
    """Return the path of the file with the nearest name in the same folder; None if none is near.

    Args:
        path: A path at which there is no file.
        suffixes: The suffixes of files that are meant, in lower case, such as ``.csv``.
    """
    endings = tuple(suffixes)
    try:
        names = [file.name for file in path.parent.iterdir() if file.suffix.lower() in endings]
    except OSError:
        return None
    near = find_nearest(path.name, names)
    return None if near is None else str(path.with_name(near))
