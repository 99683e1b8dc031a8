"""The files that a page shows in full, which its examples read."""

import re
from pathlib import Path

_TOML = re.compile(r"(?ms)^```toml\n(# (\S+\.toml)\n.*?)^```$")


def write_shown_files(page: Path, folder: Path) -> None:
    """Write each TOML block of a page whose first line is the name of a file."""
    for text, name in _TOML.findall(page.read_text(encoding="utf-8")):
        (folder / name).write_text(text, encoding="utf-8")
