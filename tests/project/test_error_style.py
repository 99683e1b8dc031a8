"""Every error is raised in parts and worded by the writing guide: read off the source."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import leastnoise
from leastnoise import errors

SOURCE = Path(leastnoise.__file__).parent
NAMES = {
    name
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.LeastnoiseError)
}
# Packages whose messages still are one text without parts.
UNPARTED: set[str] = set()

# Words that the glossary replaces.
OLD_WORDS = re.compile(
    r"\b(promis(?:e|es|ed)|whole[ -]numbers?|data sets?|neighbours?|begun|left out|leave out|"
    r"refused?|mended|so often|the law|laws|moves by|programme)\b"
)

# A message is in sentence case, unless it begins with the name of a parameter.
LOWER_CASE = {"a", "an", "the", "every", "each", "exactly", "exported", "files", "this"}


@dataclass(frozen=True)
class Raised:
    """A call that makes one of our errors."""

    where: str
    call: ast.Call

    def text(self, part: ast.expr) -> str:
        """Return what the source says of a part, each computed piece as one sign."""
        return "".join(_pieces(part))

    @property
    def parts(self) -> dict[str, str]:
        found = {word.arg or "": self.text(word.value) for word in self.call.keywords}
        if self.call.args:
            found["problem"] = self.text(self.call.args[0])
        return found


def _pieces(part: ast.expr) -> Iterator[str]:
    if isinstance(part, ast.Constant):
        yield str(part.value)
    elif isinstance(part, ast.JoinedStr):
        for value in part.values:
            yield from _pieces(value)
    elif isinstance(part, ast.BinOp):
        yield from _pieces(part.left)
        yield from _pieces(part.right)
    elif isinstance(part, ast.Call) and getattr(part.func, "id", "") in ("Words", "parameter"):
        yield from _pieces(part.args[0])
    else:
        yield "…"


def raised(file: Path) -> list[Raised]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    place = file.relative_to(SOURCE).as_posix()
    return [
        Raised(f"{place}:{node.lineno}", node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", getattr(node.func, "attr", "")) in NAMES
        and (node.args or node.keywords)
    ]


FILES = [
    pytest.param(file, id=file.relative_to(SOURCE).as_posix())
    for file in sorted(SOURCE.rglob("*.py"))
    if raised(file) and file.relative_to(SOURCE).parts[0].removesuffix(".py") not in UNPARTED
]


def test_there_is_something_to_read() -> None:
    assert len(NAMES) == len(errors.LeastnoiseError.__subclasses__()) + 1
    assert sum(len(raised(file)) for file in SOURCE.rglob("*.py")) > 250


@pytest.mark.parametrize("file", FILES)
def test_errors_have_parts(file: Path) -> None:
    """What was given is no part of the problem, and what to do is a part of its own."""
    whole = [
        one.where
        for one in raised(file)
        if ", got " in one.parts.get("problem", "") or not one.parts.get("fix")
    ]
    assert not whole


@pytest.mark.parametrize("file", FILES)
def test_errors_begin_with_the_name_of_a_parameter_on_each_surface(file: Path) -> None:
    """Not ``"sensitivity must be …"``: that is ``--sensitivity`` on the command line."""
    if "paper" in file.parts:
        return  # no option reaches it
    plain = [
        one.where
        for one in raised(file)
        if one.call.args and (found := _NAME.match(_plain_start(one.call.args[0])))
        if found[1] in errors._OPTIONS
    ]
    assert not plain


_NAME = re.compile(r"([a-z_]+)=? (?:must|is|needs|requires)\b")


def _plain_start(part: ast.expr) -> str:
    """Return the first words of a part that are equal in Python and on the command line."""
    while isinstance(part, ast.BinOp):
        part = part.left
    if isinstance(part, ast.JoinedStr):
        part = part.values[0]
    return str(part.value) if isinstance(part, ast.Constant) else ""


# Methods and functions that take a printed text apart.
CUTS = {"removeprefix", "removesuffix", "partition", "rpartition", "split", "rsplit", "replace"}
# Texts for people: attributes of errors, sentences and printed numbers.
PROSE = re.compile(
    r"\b(error|problem|headline|advice|reason|rule|message|source)\b|str\(error|explain\(|format_\w+\("
)


def cuts_prose(call: ast.Call) -> bool:
    """Return whether a call cuts or rewrites a text for people, or reads a number from one."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in CUTS:
        first = call.args[0] if call.args else None
        sign = first.value if isinstance(first, ast.Constant) else ""
        words = isinstance(sign, str) and re.search(r"[A-Za-z] | [A-Za-z]|≈", sign)
        return bool(words) or bool(PROSE.search(ast.unparse(call.func.value)))
    reads = getattr(call.func, "id", "") in ("Fraction", "Decimal", "int", "float")
    return reads and any(
        isinstance(part, ast.Call) and getattr(part.func, "attr", "") in CUTS
        for each in call.args
        for part in ast.walk(each)
    )


@pytest.mark.parametrize(
    "text",
    [
        'reason.partition(" requires ")',
        "Fraction(text.split()[0])",
        'shown.removeprefix("≈")',
        'source.replace(path, "see")',
        "mechanism.explain().removeprefix(meaning)",
        'str(error).split("; ")',
    ],
)
def test_surgery_on_messages_is_found(text: str) -> None:
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    assert any(map(cuts_prose, calls))


def test_no_code_cuts_or_rewrites_prose() -> None:
    found = [
        f"{file.relative_to(SOURCE)}:{node.lineno}: {ast.unparse(node)}"
        for file in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and cuts_prose(node)
    ]
    assert not found


@pytest.mark.parametrize("file", FILES)
def test_errors_are_short_and_in_plain_words(file: Path) -> None:
    for one in raised(file):
        parts = one.parts
        message = f"{parts.get('problem', '')}, got {parts.get('got', '')}. {parts.get('fix', '')}"
        assert len(message) <= 260, one.where  # 200 is the aim; names and numbers are added
        assert not OLD_WORDS.search(message), (one.where, OLD_WORDS.findall(message))
        assert not parts.get("problem", "").endswith("."), one.where
        assert parts.get("problem", "").partition(" ")[0] not in LOWER_CASE, one.where
