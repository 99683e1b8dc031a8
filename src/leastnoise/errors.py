"""Every error leastnoise raises on purpose.

::

    LeastnoiseError
    ├── InvalidParameter   (ValueError)           the question is wrong, or has no answer
    ├── NotPrivate         (ValueError)           a noise does not keep the promise it is held to
    ├── BudgetExceeded     (RuntimeError)         the ledger has not enough left
    ├── LedgerDamaged      (RuntimeError)         the ledger's chain is broken
    ├── LedgerUnavailable  (RuntimeError)         the ledger cannot be written now
    ├── QueryFailed        (RuntimeError)         an engine did not answer a query
    └── Unsupported        (NotImplementedError)  a right question that this version cannot answer

A message says the rule, what was got and what to do. It may quote a parameter, for parameters
are public; it never holds anything read from data: of a value to be released it names the type
and nothing else.
"""


class LeastnoiseError(Exception):
    """The root of the tree: catch it to catch everything leastnoise raises on purpose."""


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


class Unsupported(LeastnoiseError, NotImplementedError):
    """The question is sound, but this version of leastnoise does not answer it."""
