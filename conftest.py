"""Run the examples of documents in a folder with nothing but docs, so that they may write files."""

from pathlib import Path

import pytest
from _pytest.doctest import DoctestTextfile


@pytest.fixture(autouse=True)
def _own_folder(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(request.node.parent, DoctestTextfile):
        (tmp_path / "docs").symlink_to(Path(__file__).parent / "docs")
        monkeypatch.chdir(tmp_path)
