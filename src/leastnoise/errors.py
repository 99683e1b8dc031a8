"""Every error leastnoise raises on purpose.

::

    LeastnoiseError
    ├── InvalidParameter   (ValueError)           an argument breaks a rule, or has no answer
    ├── NotPrivate         (ValueError)           noise does not satisfy its guarantee
    ├── BudgetExceeded     (RuntimeError)         not enough budget remains in the ledger
    ├── LedgerDamaged      (RuntimeError)         the chain of the ledger is broken
    ├── LedgerUnavailable  (RuntimeError)         the ledger cannot be read or written now
    ├── QueryFailed        (RuntimeError)         an engine did not answer a query
    ├── ReleaseFailed      (RuntimeError)         an unexpected error, withheld: it can quote data
    ├── EntropyFailed      (RuntimeError)         the system's random generator failed
    └── Unsupported        (NotImplementedError)  a valid request that this version cannot answer

An error has parts: the problem, what was given, and what to do. They name arguments in Python's
words and in the command line's, so no code rewrites prose. A message may quote parameters, because
they are public. It never contains anything read from data: for a value to be released it names
only the type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """A phrase that names something which Python and the command line write differently.

    Concatenate it with strings; the result is worded for both.

    >>> "Leave out " + Words("integer=True", "--integer") + "."
    Words(python='Leave out integer=True.', command='Leave out --integer.')
    """

    python: str
    command: str

    def __add__(self, after: Text) -> Words:
        return Words(self.python + _python(after), self.command + _command(after))

    def __radd__(self, before: str) -> Words:
        return Words(before + self.python, before + self.command)


Text = str | Words

# Parameters of the library that are options of the command line.
_OPTIONS = {
    name: "--" + name.replace("_", "-")
    for name in [
        "accounting",
        "allocation",
        "allow_exact",
        "analyst",
        "at_most",
        "bins",
        "bounds",
        "by",
        "confidence",
        "cost",
        "dataset",
        "delta",
        "discovery",
        "edges",
        "epsilon",
        "error",
        "family",
        "fresh",
        "gap",
        "head",
        "integer",
        "interval",
        "key",
        "ledger",
        "max_groups",
        "max_rows",
        "name",
        "neighbors",
        "of",
        "people",
        "q",
        "releases",
        "seconds",
        "sensitivity",
        "shape",
        "share",
        "table",
        "unit",
        "version",
        "where",
        "witness",
    ]
} | {"groups": "--group", "path": "--out"}


def parameter(name: str) -> Words:
    """Return the name of a parameter: as an argument, and as the option of the command line.

    >>> parameter("max_rows") + " must be 1"
    Words(python='max_rows must be 1', command='--max-rows must be 1')
    """
    return Words(name, _OPTIONS.get(name, name))


ALLOW_EXACT = Words("allow_exact=True", "--allow-exact")
INTEGER = Words("integer=True", "--integer")


class LeastnoiseError(Exception):
    """The root of the tree: catch it to catch everything leastnoise raises on purpose.

    ``str(error)`` is one paragraph in Python's words. The command line prints the headline, then
    the details and the advice on indented lines.

    >>> error = LeastnoiseError("sensitivity must be positive", got="0", fix="Use 1 for a count.")
    >>> print(error)
    sensitivity must be positive, got 0. Use 1 for a count.

    Args:
        problem: The rule that was broken, or what happened and whether anything was charged;
            without a final period if ``got`` or ``fix`` follows.
        subject: What the problem is about; it is printed before it. Default: nothing.
        got: What was given instead. Default: nothing.
        fix: What to do, in whole sentences. Default: nothing.
        details: Labelled facts for the command line. Python's words of ``problem`` include them.
        summary: The problem for logs, if ``problem`` quotes an answer. Default: ``problem``.

    Attributes:
        problem: The rule or the event, in Python's words.
        rule: The problem without its subject, in Python's words.
        got: What was given, in Python's words.
        fix: What to do, in Python's words.
        headline: The problem and what was given, in the command line's words.
        summary: The problem without any answer, in Python's words.
        details: Labelled facts, in the command line's words.
        advice: What to do, in the command line's words.
    """

    def __init__(
        self,
        problem: Text = "",
        *,
        subject: str = "",
        got: Text = "",
        fix: Text = "",
        details: Sequence[tuple[str, str]] = (),
        summary: str = "",
    ) -> None:
        self.rule = _python(problem)
        if subject:
            problem = subject + " " + problem
        headline = problem
        if got:
            headline = headline + ", got " + got
        if got or fix:
            headline = headline + "."
        super().__init__(_python(headline + " " + fix if fix else headline))
        self.problem, self.got, self.fix = _python(problem), _python(got), _python(fix)
        self.headline, self.advice = _command(headline), _command(fix)
        self.details = tuple(details)
        self.summary = summary or self.problem


def _python(text: Text) -> str:
    return text if isinstance(text, str) else text.python


def _command(text: Text) -> str:
    return text if isinstance(text, str) else text.command


class InvalidParameter(LeastnoiseError, ValueError):
    """An argument breaks a rule, or asks for something that does not exist."""


class NotPrivate(LeastnoiseError, ValueError):
    """Noise fails the exact check of the guarantee it must satisfy."""


class BudgetExceeded(LeastnoiseError, RuntimeError):
    """A release would spend more than remains; nothing was charged or released."""


class LedgerDamaged(LeastnoiseError, RuntimeError):
    """The rows of a ledger do not form a valid chain; nothing is released from it."""


class LedgerUnavailable(LeastnoiseError, RuntimeError):
    """A ledger cannot be read or written now; nothing is released without it."""


class QueryFailed(LeastnoiseError, RuntimeError):
    """A query failed on its engine, whose own message is withheld because it can quote rows."""


class ReleaseFailed(LeastnoiseError, RuntimeError):
    """An unexpected error ended a release; it is withheld because it can quote data.

    A charge that was recorded before stands.
    """


class EntropyFailed(LeastnoiseError, RuntimeError):
    """The operating system's random generator failed a check; nothing was released.

    A charge that was recorded before stands, because noise is sampled after it.
    """


class Unsupported(LeastnoiseError, NotImplementedError):
    """A valid request that this version of leastnoise cannot answer."""
