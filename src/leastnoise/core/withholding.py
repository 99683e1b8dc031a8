"""Withhold true values from errors: a raised error refers to no value that was being released.

The traceback of an error refers to the frames that it passed. Their variables hold the true value,
or noise that the ledger has not stored yet, and a logger of variables would log them. So every
function that receives a true value ends like this::

    try:
        return work(value)
    except BaseException as error:
        failure = without_values(error)
    del value
    raise failure

The error is raised after the ``except`` block, when nothing refers to the inner frames any more.
"""

from leastnoise.deprecation import RenamedWarning
from leastnoise.errors import LeastnoiseError, ReleaseFailed


def without_values(error: BaseException) -> BaseException:
    """Return the error to raise instead of one that may refer to true values.

    Our own errors, whose messages never hold data, and errors that end the program, such as
    KeyboardInterrupt, lose their traceback and the errors behind them. Any other error may quote a
    value: MemoryError is replaced by a new one, the rest by :class:`ReleaseFailed`.
    """
    if isinstance(error, MemoryError):
        return MemoryError()
    if isinstance(error, Exception) and not isinstance(error, LeastnoiseError | RenamedWarning):
        return ReleaseFailed(
            "The release failed with an unexpected error, which is withheld because it can quote "
            "data. Nothing was released. A charge in a ledger stands",
            fix="Report this as a bug; repeat the query with the same key at no further cost.",
        )
    error.__traceback__ = error.__context__ = error.__cause__ = None
    vars(error).pop("__notes__", None)
    return error
