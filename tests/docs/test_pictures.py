"""The figure of an answer in the documents is the one that is drawn today."""

from pathlib import Path

from tests.docs.pictures import FIGURE, draw, texts


def test_the_figure_of_an_answer_is_drawn_today(tmp_path: Path) -> None:
    draw(tmp_path / "a.svg")
    assert len(texts(FIGURE)) > 20
    assert texts(tmp_path / "a.svg") == texts(FIGURE), "run python -m tests.docs.pictures"
