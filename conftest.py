"""Run the examples of each document in a temporary folder, so that they may write files.

The folder contains a link to docs, and the TOML files that the document shows.
"""

from pathlib import Path

import pytest
from _pytest.doctest import DoctestTextfile

from tests.support.shown_files import write_shown_files


@pytest.fixture(autouse=True)
def _own_folder(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(request.node.parent, DoctestTextfile):
        (tmp_path / "docs").symlink_to(Path(__file__).parent / "docs")
        monkeypatch.chdir(tmp_path)
        write_shown_files(request.node.path, tmp_path)
