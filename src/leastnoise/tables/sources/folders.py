"""Folders of Parquet files, as Spark and others write them, with partitions in their names."""

import os
import re
from os.path import join, relpath

from leastnoise.errors import InvalidParameter
from leastnoise.tables.sources.place import locate

_PARTITION = re.compile(r"([^=]+)=(.+)")


def find_files(folder: str) -> tuple[list[str], list[str]]:
    """Return the Parquet files in a folder, sorted, and the names of the partitions they lie in.

    Files and folders whose names begin with "_" or "." are ignored, as Spark does. A folder that is
    named like ``year=2024`` adds a column of strings, ``year``.
    """
    root = locate(folder)
    files = list[str]()
    for place, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(("_", ".")))
        shown = (name for name in names if not name.startswith(("_", ".")))
        files += [join(place, name) for name in shown]
    if not files or not all(file.lower().endswith((".parquet", ".pq")) for file in files):
        raise InvalidParameter(
            f"{folder!r} is a folder without Parquet files, or with other files beside them",
            fix="Pass a pattern for the files in it, such as 'people/*.csv'.",
        )
    partitions = {tuple(_partitions(relpath(file, root))) for file in files}
    if len(partitions) > 1 or (partitions != {()} and "=" in root):
        raise InvalidParameter(
            "The files of a folder must lie in folders of the same partitions, such as "
            "year=2024/month=1, and the folder itself outside of such",
            got="other folders",
            fix="Pass a pattern for files that belong together.",
        )
    return sorted(files), list(partitions.pop())


def _partitions(path: str) -> list[str]:
    """Return the names of the partitions in a relative path."""
    matches = map(_PARTITION.fullmatch, path.split(os.sep)[:-1])
    return [match[1] for match in matches if match is not None]
