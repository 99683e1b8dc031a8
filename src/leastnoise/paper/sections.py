"""The parts of a page: sections with paragraphs, lists, tables and figures, as data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from leastnoise.paper.numbers import Row

if TYPE_CHECKING:
    from altair.typing import ChartType


@dataclass(frozen=True)
class Badge:
    """A cell that stands out, such as the status of a claim."""

    text: str
    kind: Literal["good", "corrected", "bad"]


Cell = str | Badge


@dataclass(frozen=True)
class Items:
    """A list, each item with its label."""

    items: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """Lines of Python."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Table:
    """A table, also written as a CSV file.

    Attributes:
        name: The name of the CSV file, without its ending.
        title: The caption.
        header: The names of the columns.
        rows: The cells. The first cell of a row is its header.
        data: Exact or unrounded values for the CSV file. Default: the cells.
        is_wide: Whether the table may be wider than the text.
        is_numeric: Whether columns are aligned to the right.
    """

    name: str
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    data: Sequence[Row] = ()
    is_wide: bool = False
    is_numeric: bool = False


@dataclass(frozen=True)
class Figure:
    """A figure, also written as PNG and SVG files.

    Attributes:
        name: The name of the files, without their endings.
        label: The first words of the caption, such as the number in the paper.
        chart: The chart.
        caption: The text below the figure.
        alt: A description of the figure, for readers who cannot see it.
        data: The values behind the curves, for a CSV file. Default: no file.
    """

    name: str
    label: str
    chart: "ChartType"
    caption: str
    alt: str
    data: Sequence[Row] = ()


@dataclass(frozen=True)
class Proof:
    """A page with proofs, also written as a Markdown file.

    Attributes:
        name: The name of the page in docs/theory, without its ending.
        text: The page in Markdown.
    """

    name: str
    text: str


Block = str | Code | Items | Table | Figure | Proof


@dataclass(frozen=True)
class Section:
    """A part of the page under one heading.

    Attributes:
        name: The anchor of the section within the page.
        title: The heading.
        blocks: Paragraphs (plain text), code, lists, tables and figures, in order.
    """

    name: str
    title: str
    blocks: Sequence[Block]
