"""The tokens of a condition.

Everything else (comments, semicolons, typographic quotes, letters that look like others) is
rejected, with its place, before a query is built. A sign before digits belongs to the number,
except after an operand: ``a -3`` is a difference.
"""

import re
import unicodedata
from dataclasses import dataclass
from decimal import Context, Decimal

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Text, parameter

EXAMPLE = "age >= 18 and region in ('north', 'south')"
# Much longer than people write, and short enough for parsers and engines.
LONGEST = 10_000
_MOST_DIGITS = 800  # a float has at most 767 when written in full
_LARGEST_EXPONENT = 1_000

# ASCII only: `\d` and `\s` would accept the digits and spaces of every script.
_SPACES = re.compile(r"[ \t\r\n]*")
_CONTINUED = re.compile(r"[A-Za-z0-9_.]")
_EXACT = Context(prec=LONGEST, Emin=-999_999, Emax=999_999)
NAME, QUOTED, NUMBER, TEXT, SIGN, END = "name", "quoted", "number", "text", "sign", "end"
PARAMETER = "parameter"
_WORDS = (
    (NAME, re.compile(r"[A-Za-z_][A-Za-z0-9_]*")),
    (PARAMETER, re.compile(r":([A-Za-z_][A-Za-z0-9_]*)")),
    (NUMBER, re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")),
    (QUOTED, re.compile(r'"((?:[^"]|"")*)"')),
    (TEXT, re.compile(r"'((?:[^']|'')*)'")),
    (SIGN, re.compile(r"<=|>=|<>|!=|[=<>(),+*]|-(?!-)|/(?!\*)")),
)
# Names after which a value begins, so that a sign belongs to it.
_BEFORE_VALUES = frozenset(("and", "between", "in", "like", "not", "or"))


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a condition.

    Attributes:
        kind: NAME, QUOTED, NUMBER, TEXT, PARAMETER, SIGN or END.
        text: The token as written; for QUOTED and TEXT, the unescaped content of the quotes; for
            PARAMETER, its name.
        start: The index of its first character.
        shown: The token as an error message quotes it.
    """

    kind: str
    text: str
    start: int
    shown: str

    @property
    def word(self) -> str:
        """The lower-case word of a NAME, else an empty string: keywords have no case."""
        return self.text.lower() if self.kind == NAME else ""

    @property
    def number(self) -> Decimal:
        """The exact number, the same for all its spellings."""
        return _normalize(self.text)


def tokens(condition: str) -> tuple[Token, ...]:
    """Split a condition into tokens, the last of which is END; reject everything else."""
    words, place = list[Token](), _after_spaces(condition, 0)
    while place < len(condition):
        operator = condition[place] in "+-" and bool(words) and _ends_operand(words[-1])
        token, place = _next(condition, place, operator=operator)
        words.append(token)
        place = _after_spaces(condition, place)
    return (*words, Token(END, "", len(condition), "the end"))


def make_error(
    condition: str, start: int, got: str, expected: str, advice: Text
) -> InvalidParameter:
    """Return the error for a place in a condition."""
    return InvalidParameter(
        parameter("where") + " must be a valid condition",
        got=f"{got} at character {start + 1} of {quote(condition)}, where {expected} is expected",
        fix=advice or f"Write, for example, {EXAMPLE}.",
    )


def _after_spaces(condition: str, place: int) -> int:
    spaces = _SPACES.match(condition, place)
    return spaces.end() if spaces else place


def _ends_operand(token: Token) -> bool:
    """Return whether an operand can end with a token, so that + or - after it is an operator."""
    if token.kind == SIGN:
        return token.text == ")"
    return token.word not in _BEFORE_VALUES


def _next(condition: str, start: int, *, operator: bool) -> tuple[Token, int]:
    """Return the token that begins at a place, and where it ends."""
    for kind, pattern in _WORDS:
        match = pattern.match(condition, start)
        if match is None or (operator and kind == NUMBER):
            continue
        text = match.group(1) if kind == PARAMETER else match.group()
        if kind in (QUOTED, TEXT):
            text = _unquote(condition, match, kind)
        elif kind == NUMBER:
            _check_number(condition, match)
        return Token(kind, text, start, quote(match.group())), match.end()
    raise _stray(condition, start)


def _unquote(condition: str, match: re.Match[str], kind: str) -> str:
    """Return the content of quotes, with doubled quotes unescaped."""
    inner = match.group(1)
    for place, character in enumerate(inner, start=match.start(1)):
        # Engines treat NUL differently, and half a surrogate pair is not text.
        if unicodedata.category(character) in ("Cc", "Cs"):
            got = f"the control character U+{ord(character):04X}"
            raise make_error(condition, place, got, "a character that prints", "Remove it.")
    if kind == QUOTED and not inner:
        advice = "Write it between the double quotes."
        raise make_error(condition, match.start(), "an empty name", "the name of a column", advice)
    quote = '"' if kind == QUOTED else "'"
    return inner.replace(quote * 2, quote)


def _check_number(condition: str, match: re.Match[str]) -> None:
    """Reject a number with further characters after it, or with too many digits."""
    text, start = match.group(), match.start()
    if _CONTINUED.match(condition, match.end()):
        advice = "Write it as 1000, -2.5 or 1e6, with a space after it."
        raise make_error(
            condition, start, quote(condition[start : match.end() + 1]), "a number", advice
        )
    if _is_too_long(text):
        most = f"{_MOST_DIGITS} digits and an exponent of at most {_LARGEST_EXPONENT}"
        got, advice = "a number that is too long", "Give a shorter number."
        raise make_error(condition, start, got, f"one of at most {most}", advice)


def _is_too_long(text: str) -> bool:
    """Return whether a number has too many digits or too large an exponent, in any spelling."""
    exponent = text.lower().partition("e")[2].lstrip("+-0")
    if len(exponent) > 5:  # first, because Decimal cannot normalize every exponent
        return True
    number = _normalize(text)
    return (
        len(number.as_tuple().digits) > _MOST_DIGITS or abs(number.adjusted()) > _LARGEST_EXPONENT
    )


def check_text(text: str, what: str) -> None:
    """Reject a string that no condition can contain; the error does not quote it."""
    odd = [character for character in text if unicodedata.category(character) in ("Cc", "Cs")]
    if odd:
        raise InvalidParameter(
            f"{what} must be a string of characters that print",
            got=f"one with the control character U+{ord(odd[0]):04X}",
            fix="Remove it.",
        )


def read_number(text: str, what: str) -> Decimal:
    """Return a number that Python wrote, if a condition can contain it."""
    if _is_too_long(text):
        raise InvalidParameter(
            f"{what} must have at most {_MOST_DIGITS} digits and an exponent of at most "
            f"{_LARGEST_EXPONENT}",
            got="a number that is too long",
            fix="Give a shorter number.",
        )
    return _normalize(text)


def _normalize(text: str) -> Decimal:
    number = Decimal(text)
    return _EXACT.normalize(number) if number else Decimal(0)  # -0 is 0


def _stray(condition: str, start: int) -> InvalidParameter:
    """Return the error for a character that begins no token."""
    character = condition[start]
    if character in "\"'":
        got = f"a quote {character} that is not closed"
        expected = "a string in single quotes or a column in double quotes"
        return make_error(
            condition, start, got, expected, "Close it; write a quote inside it twice."
        )
    name = unicodedata.name(character, "a character that does not print")
    shown = repr(character) if character.isascii() else f"{character!r} ({name})"
    if character.isalpha():
        advice = 'Write a column\'s name with such letters in double quotes, as in "größe" > 3.'
    elif not character.isascii():
        advice = "Write it in plain characters: = != < <= > >= ( ) , ' \" and spaces."
    else:
        advice = (
            "A condition compares columns with values; comments and several statements are not "
            "part of it. Write a column's name with such signs in double quotes."
        )
    return make_error(
        condition, start, shown, "a column, a value, a comparison or a bracket", advice
    )
