"""Every error leastnoise raises on purpose.

::

    LeastnoiseError
    ├── InvalidParameter   (ValueError)           the question is wrong, or has no answer
    ├── NotPrivate         (ValueError)           a noise does not keep the promise it is held to
    ├── BudgetExceeded     (RuntimeError)         the ledger has not enough left
    ├── LedgerDamaged      (RuntimeError)         the ledger's chain is broken
    ├── LedgerUnavailable  (RuntimeError)         the ledger cannot be written now
    ├── QueryFailed        (RuntimeError)         an engine did not answer a query
    ├── ReleaseFailed      (RuntimeError)         an unexpected error, withheld: it can quote data
    ├── EntropyFailed      (RuntimeError)         the system's random generator failed
    └── Unsupported        (NotImplementedError)  a right question that this version cannot answer

A message says the rule, what was got and what to do. It may quote a parameter, for parameters
are public; it never holds anything read from data: of a value to be released it names the type
and nothing else.
"""

from __future__ import annotations

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

ALLOW_EXACT = Words("allow_exact=True", "--allow-exact")
INTEGER = Words("integer=True", "--integer")


class LeastnoiseError(Exception):
    """The root of the tree: catch it to catch everything leastnoise raises on purpose.

    ``str(error)`` is the message for Python. An error that is raised with its parts reads "rule;
    got …. fix"; one that is raised with a text alone reads like that text.

    Attributes:
        rule: The rule that was broken, without what was got and what to do.
        got: What was got instead.
        fix: What to do.
        command: The message for the command line, which names options instead of arguments.
    """

    def __init__(self, rule: Text = "", *, got: Text = "", fix: Text = "") -> None:
        message = rule
        if got:
            message = message + "; got " + got
        if got or fix:
            message = message + "."
        if fix:
            message = message + " " + fix
        super().__init__(_python(message))
        self.rule, self.got, self.fix = _python(rule), _python(got), _python(fix)
        self.command = _command(message)


def _python(text: Text) -> str:
    return text if isinstance(text, str) else text.python


def _command(text: Text) -> str:
    return text if isinstance(text, str) else text.command


class InvalidParameter(LeastnoiseError, ValueError):
    """A parameter breaks a rule, or asks for something that does not exist."""


class NotPrivate(LeastnoiseError, ValueError):
    """A noise fails the exact check of the promise it is held to."""


class BudgetExceeded(LeastnoiseError, RuntimeError):
    """A release would spend more than the ledger has left; nothing was released."""


class LedgerDamaged(LeastnoiseError, RuntimeError):
    """A ledger's rows do not form the chain they must; nothing is released from it."""


class LedgerUnavailable(LeastnoiseError, RuntimeError):
    """A ledger cannot be read or written now; nothing is released without it."""


class QueryFailed(LeastnoiseError, RuntimeError):
    """A query did not run to its end on its engine, whose own words are kept back."""


class ReleaseFailed(LeastnoiseError, RuntimeError):
    """An unexpected error ended a release; it is withheld because it can quote data.

    A charge that was recorded before stands.
    """


class EntropyFailed(LeastnoiseError, RuntimeError):
    """The operating system's random generator failed a check; nothing was released.

    A charge that was recorded before stands, because noise is sampled after it.
    """


class Unsupported(LeastnoiseError, NotImplementedError):
    """The question is sound, but this version of leastnoise does not answer it."""
