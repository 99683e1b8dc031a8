"""Events of releases: requests, charges, durations, rejections and failures.

Table queries and releases that charge a ledger emit events. They go to the logger ``leastnoise`` of
the standard library, and to every function that subscribes::

    with leastnoise.events.subscribe(print):
        people.count(share="1/50")

An event holds public words only: no value from the data, no answer, no address of a database and no
error object, whose traceback can refer to values. Durations can depend on the data: show them to
those who run a service, and not to its analysts.

Events change nothing: an error of a subscriber or of a log handler is logged by its class and does
not reach the release. Only errors that end the program, such as KeyboardInterrupt, do. A subscriber
is called in the thread of the release, which waits for it.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from leastnoise.core.gaussian_cost import GaussianCost
from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.errors import (
    BudgetExceeded,
    InvalidParameter,
    LeastnoiseError,
    NotPrivate,
    Unsupported,
)
from leastnoise.rendering import printable

_LOGGER = logging.getLogger("leastnoise")
_LOGGER.addHandler(logging.NullHandler())  # the program decides which events are printed
_REJECTIONS = InvalidParameter, NotPrivate, BudgetExceeded, Unsupported


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a request.

    Attributes:
        title: The queries in a few words, as answers print them.
        dataset: The dataset of the ledger; None if the release is in no ledger.
        analyst: The analyst who asked; None if none was named.
        key: The key of the query in the ledger; None if it has none yet, or if the key would reveal
            an answer, as those of a mean with a target error.
        not_private: Whether the noise is seeded, in tests (:mod:`leastnoise.testing`).
    """

    level: ClassVar[int] = logging.INFO

    title: str
    dataset: str | None = None
    analyst: str | None = None
    key: str | None = None
    not_private: bool = False

    def __str__(self) -> str:
        """Return the line of a log."""
        who = f" by {self.analyst}" if self.analyst else ""
        where = f" in dataset {self.dataset!r}" if self.dataset else ""
        under = f" under key {self.key!r}" if self.key else ""
        mark = " (NOT PRIVATE: seeded noise)" if self.not_private else ""
        return f"{type(self).__name__.lower()}{mark}: {self.title}{who}{where}{under}"


@dataclass(frozen=True, slots=True)
class Asked(Event):
    """A request arrived. Nothing was checked yet."""

    level = logging.DEBUG


@dataclass(frozen=True, slots=True, kw_only=True)
class Charged(Event):
    """A ledger was charged; the charge is on disk, and no data was read yet.

    Attributes:
        privacy: The guarantee of the release, which is charged where ε and δ add up; None if it
            would reveal an earlier answer: for a mean with a target error, it follows from counts.
        allocation: The allocation that was charged; None if the guarantee was charged.
        cost: The cost (μ², γ) that was charged to the allocation; None if ``privacy`` is, or if
            the guarantee was charged.
        ledger_seconds: The time to charge, with the time to wait for others who charge.
    """

    privacy: Privacy | None
    allocation: str | None
    cost: GaussianCost | None
    ledger_seconds: float

    def __str__(self) -> str:
        """Return the line of a log."""
        charge = _format_guarantee(self.privacy)
        if self.cost is not None:
            charge += f", {self.cost} of allocation {self.allocation!r}"
        return f"{Event.__str__(self)}: {charge}; ledger {self.ledger_seconds:.3f} s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reused(Event):
    """The key has an earlier charge, so nothing is charged.

    If the answer is stored, it is returned and no data is read. If it is not, as after a crash, the
    query runs.

    Attributes:
        stored: Whether the answer is stored.
        ledger_seconds: The time to look up the key, with the time to wait for others who charge.
    """

    stored: bool
    ledger_seconds: float

    def __str__(self) -> str:
        """Return the line of a log."""
        return f"{Event.__str__(self)}; ledger {self.ledger_seconds:.3f} s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Released(Event):
    """New answers are released, and stored if there is a ledger.

    Attributes:
        privacy: The guarantee of the release; None if it would reveal an earlier answer.
        engine_seconds: The time to run the queries and to add noise.
        ledger_seconds: The time to store the answers; 0 without a ledger.
    """

    privacy: Privacy | None
    engine_seconds: float
    ledger_seconds: float

    def __str__(self) -> str:
        """Return the line of a log."""
        times = f"engine {self.engine_seconds:.3f} s, ledger {self.ledger_seconds:.3f} s"
        return f"{Event.__str__(self)}: {_format_guarantee(self.privacy)}; {times}"


def _format_guarantee(privacy: Privacy | None) -> str:
    """Return a guarantee in words, or why it is not shown."""
    return "guarantee follows from an answer" if privacy is None else format_guarantee(privacy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected(Event):
    """A request was rejected, because it is invalid or too little budget remains.

    Nothing was charged for it, except that the charges of a mean's counts stand.

    Attributes:
        error: The name of the class of the error.
        problem: Its problem in words, without the given value; empty if the error has no words.
    """

    level = logging.WARNING

    error: str
    problem: str

    def __str__(self) -> str:
        """Return the line of a log."""
        return f"{Event.__str__(self)}: {self.error}{': ' * bool(self.problem)}{self.problem}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(Rejected):
    """A request failed: the engine, the ledger or the random generator did, or it was interrupted.

    An earlier charge stands.
    """

    level = logging.ERROR


@dataclass(frozen=True, slots=True)
class Request:
    """The words of a request, which all of its events share; see :class:`Event`."""

    title: str
    dataset: str | None = None
    analyst: str | None = None
    key: str | None = None
    not_private: bool = False

    @property
    def words(self) -> tuple[str, str | None, str | None, str | None, bool]:
        """The first arguments of its events. Nothing in them can break the line of a log."""
        named = (self.dataset, self.analyst, self.key)
        shown = [None if text is None else printable(text) for text in named]
        return printable(self.title), shown[0], shown[1], shown[2], self.not_private

    def ask(self) -> None:
        """Emit that the request arrived."""
        if is_heard(Asked):
            emit(Asked(*self.words))

    def refuse(self, error: BaseException) -> None:
        """Emit that it was rejected or failed. Call it when the error is no longer handled."""
        kind = Rejected if isinstance(error, _REJECTIONS) else Failed
        if is_heard(kind):
            problem = error.summary if isinstance(error, LeastnoiseError) else ""
            emit(kind(*self.words, error=type(error).__name__, problem=printable(problem)))


class Subscription:
    """A function that receives events, until it is cancelled or its ``with`` block ends."""

    def __init__(self, callback: Callable[[Event], object]) -> None:
        self._callback = callback

    def __call__(self, event: Event) -> None:
        """Pass an event on."""
        self._callback(event)

    def cancel(self) -> None:
        """End the subscription. A second call does nothing."""
        _SUBSCRIPTIONS.pop(self, None)

    def __enter__(self) -> "Subscription":
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()


# In the order of subscribing. No lock, which a fork could inherit locked: changes are atomic.
_SUBSCRIPTIONS: dict[Subscription, None] = {}


def subscribe(callback: Callable[[Event], object]) -> Subscription:
    """Call a function with every event of this process, from any thread.

    Args:
        callback: A function of one argument, an :class:`Event`. It should return soon, because the
            release waits for it. Its errors are logged and change nothing.

    Returns:
        A handle: ``cancel()`` ends the subscription, and so does the end of a ``with`` block.

    Raises:
        InvalidParameter: If it cannot be called.

    >>> import leastnoise as ln
    >>> from leastnoise.tables import census
    >>> people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ln.UNRECORDED)
    >>> with subscribe(lambda event: print(type(event).__name__, event.title)):
    ...     answer = people.count(by="region", max_groups=1, privacy=ln.Privacy(1, "1e-7"))
    Asked count by region
    Released count by region
    """
    if not callable(callback):
        raise InvalidParameter(
            "callback must be a function of an event",
            got=f"an object of type {type(callback).__name__}",
            fix="Write, for example, subscribe(print).",
        )
    subscription = Subscription(callback)
    _SUBSCRIPTIONS[subscription] = None
    return subscription


def is_heard(kind: type[Event]) -> bool:
    """Return whether anybody receives events of a class: a subscriber, or a logger at its level."""
    return bool(_SUBSCRIPTIONS) or _LOGGER.isEnabledFor(kind.level)


def emit(event: Event) -> None:
    """Log an event and pass it to the subscribers; their errors change nothing."""
    receivers: list[Callable[[Event], None]] = [_log, *_SUBSCRIPTIONS]
    for receive in receivers:
        failure = ""
        try:
            receive(event)
        except Exception as error:  # noqa: BLE001 -- a release must not depend on its observers
            failure = type(error).__name__
        if failure:
            with suppress(Exception):
                _LOGGER.error("A receiver of events failed with %s", failure)


def _log(event: Event) -> None:
    if _LOGGER.isEnabledFor(event.level):
        _LOGGER.log(event.level, "%s", event, extra={"event": event})
