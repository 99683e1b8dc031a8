"""The lines of keys in TOML, against documents in which every number is the line it is on."""

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastnoise.tables.card.lines import Path, find_lines

TRICKY = {
    "comments and blanks": """
# a = 2
a = @ # b = 3

   b=@
\t"c" = @
""",
    "tables": """
[one]
a = @
[ one . "two words" ]
a = @
[three.'fo.ur'.five]  # [six]
a = @
[one.more]
a = @
""",
    "dotted keys": """
a.b.c = @
a.b . "d.e" = @
[t]
x.y = @
x.'z' = @
""",
    "strings that look like keys": '''
a = "b = 3"
c = @
d = """
e = 5
[f] # "quoted" \\""" and ""
"""
g = @
h = \'\'\'
[i]
'j' = ''
\'\'\'
k = @
l = 'back\\'
m = @
n = """x"""""
o = @
p = ""
q = \'\'
r = @
s = "\\""
t = @
''',
    "arrays": """
a = [@, @,
  @, # [9]
  [@,
   @], "x, ]",
  @,
]
b = []
c = [ [] , [
@ ] ]
d = @
""",
    "inline tables": """
a = {b = @, c = {d = @, e = [@,
  @]}, "f g" = @}
h = {}
i = [{j = @}, {j = @},
  {j = @}]
k = @
""",
    "arrays of tables": """
[[a]]
b = @
[[a]]
b = @
[a.c]
d = @
[[a.e]]
f = @
[[a.e]]
f = @
[g]
h = @
""",
    "values with odd characters": """
a = 1979-05-27 07:32:00Z # not a comma
b = @
c = -inf
d = 1_000.5e+3
e = @
f = true
g = [1979-05-27T00:32:00.9-07:00, @]
""",
    "one line": "a = @",
    "escaped keys": """
"\\u0061\\t" = @
"quo\\"te" = @
""" + '"" = @\n',
}  # fmt: skip


def number(text: str) -> str:
    """Put the number of its line in place of every @."""
    lines = text.split("\n")
    return "\n".join(line.replace("@", str(place)) for place, line in enumerate(lines, 1))


def walk(part: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Go through all values of a document, those in tables and arrays too."""
    if path:
        yield path, part
    if isinstance(part, dict | list):
        parts = part.items() if isinstance(part, dict) else enumerate(part)
        for key, value in parts:
            yield from walk(value, (*path, key))


def check(text: str) -> int:
    """Compare the lines of all keys with the numbers; return how many numbers there are."""
    found, values = find_lines(text), dict(walk(tomllib.loads(text)))
    assert found.keys() == values.keys()
    numbered = {path: value for path, value in values.items() if type(value) is int}
    assert {path: found[path] for path in numbered} == numbered
    return len(numbered)


@pytest.mark.parametrize("name", TRICKY)
def test_every_number_is_on_its_line(name: str) -> None:
    assert check(number(TRICKY[name])) == TRICKY[name].count("@")


def test_a_table_is_on_the_line_of_its_first_mention() -> None:
    lines = find_lines("\n[a.b]\nc = 1\n[a]\nd = 2\n")
    assert lines == {("a",): 2, ("a", "b"): 2, ("a", "b", "c"): 3, ("a", "d"): 5}


KEYS = st.sampled_from(["a", "b", "long-key", '"x.y"', "'#'", '"[z]"', '"="'])
SPACE = st.sampled_from(["", " ", "\t "])
BREAK = st.sampled_from(["", " ", "\n", " # ] } = ,\n  "])
WORDS = st.sampled_from(['"a = 1"', "'[b]'", '"""\nc = @\n"""', "true", "1.5", "2026-11-01"])


@st.composite
def values(draw: st.DrawFn, depth: int = 0) -> str:
    kind = draw(st.sampled_from(["number", "word", *(["array", "table"] if depth < 3 else [])]))
    if kind == "number":
        return "@"
    if kind == "word":
        return draw(WORDS).replace("@", "no")
    inner = [draw(values(depth + 1)) for _ in range(draw(st.integers(0, 3)))]
    if kind == "array":
        return "[" + ",".join(draw(BREAK) + one + draw(BREAK) for one in inner) + "]"
    keys = draw(st.lists(KEYS, min_size=len(inner), max_size=len(inner), unique=True))
    pairs = [
        f"{draw(SPACE)}{key}{draw(SPACE)}={draw(SPACE)}{one}"
        for key, one in zip(keys, inner, strict=True)
    ]
    return "{" + ", ".join(pairs) + "}"


@st.composite
def documents(draw: st.DrawFn) -> str:
    tables = draw(st.lists(KEYS, max_size=3, unique=True))
    text = ""
    for header in ["", *(f"[t.{name}]" for name in tables)]:
        keys = draw(st.lists(KEYS, max_size=4, unique=True))
        text += f"{header}\n"
        text += "".join(
            f"{draw(SPACE)}{key}{draw(SPACE)}= {draw(values())}{draw(SPACE)}\n" for key in keys
        )
    return text


@settings(max_examples=300, deadline=None)
@given(documents())
def test_every_number_of_a_random_document_is_on_its_line(text: str) -> None:
    check(number(text))
