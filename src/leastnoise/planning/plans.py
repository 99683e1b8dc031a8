"""``plan``: several answers about the same people under one guarantee, and the proof of it.

The search (:mod:`leastnoise.planning.search`) only proposes. What all answers satisfy together is
proved here, from the noise that is drawn for them.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from typing import Any

from leastnoise.accounting import compose
from leastnoise.calibration import Effort, parse_effort
from leastnoise.core import basic_composition
from leastnoise.core.exact import Number, format_exact, format_ratio, format_rounded, quote
from leastnoise.core.noise import Gaussian, Rounded
from leastnoise.core.privacy import Privacy, as_privacy
from leastnoise.core.withholding import without_values
from leastnoise.deprecation import RenamedAttribute
from leastnoise.errors import InvalidParameter, NotPrivate, Unsupported
from leastnoise.ledger import UNRECORDED, Ledger, Recording, Spending, Unrecorded, privacy_to_json
from leastnoise.mechanism import Answer, Mechanism, check_allow_exact, numbers
from leastnoise.planning import plan_text
from leastnoise.planning.numeric_query import NumericQuery
from leastnoise.planning.options import COMPOSED, SHARED, Asked, Option, option_of
from leastnoise.planning.search import find_candidates, impossible_error
from leastnoise.rendering import as_text, html_notes, html_table

_LARGEST_EPSILON = 5_000
# The stated δ of all answers together has so many digits.
_DIGITS = 9

Value = int | float | Fraction | Decimal


def plan(
    privacy: Privacy, wanted: Iterable[NumericQuery], *, solve: bool = True, seconds: Number = 10
) -> "Plan":
    """Find the cheapest noises for several answers that keep one promise together.

    One person may change every answer, each by up to its sensitivity. Considered are: the promise
    split over the answers, for each family and for the least noise of each answer; Gaussian noise
    that all answers share; and Laplace and staircase noises narrowed until what they tell together,
    composed, is just what is allowed. How a promise is split and shared is searched for in floats;
    that the answers keep it together is proved exactly, from what is drawn. Ten answers take a
    second or two without solving, and the time grows with the number of different answers; with a
    target each takes several times as long, and with a cost that can only be called a second or
    two, most of it for its certificate.

    Args:
        privacy: What is promised of all answers together.
        wanted: The answers, with what their errors cost or how large they may be.
        solve: Whether to solve for the least noise where no closed form is proved least.
        seconds: How long searching, composing and solving may take. What is not worked out by then
            is passed over, and its row says so; the cheapest noises known for the best split found,
            or for an even one, are worked out in any case, and what is chosen is proved, which
            comes on top.

    Raises:
        InvalidParameter: If the question is wrong, or the promise does not allow the targets: then
            with an ε that would, and with errors that are possible as it is.

    >>> found = plan(Privacy(1), [NumericQuery("people", sensitivity=1, integer=True),
    ...                           NumericQuery("income", sensitivity=4)])
    >>> found.family, found.total
    ('least', Privacy(epsilon=1, delta=0))
    >>> sorted(found.release({"people": 42, "income": 123.5}))
    ['income', 'people']
    """
    effort = parse_effort(solve, Effort().gap, seconds)
    asked = replace(_parse_problem(privacy, wanted), ends=time.monotonic() + effort.seconds)
    candidates = find_candidates(asked, effort)
    possible = [one for one in candidates if one.make is not None]
    if not possible:
        raise impossible_error(asked, candidates)
    best = min(possible, key=lambda one: one.option.cost or Fraction(0))
    mechanisms = best.make() if best.make is not None else ()
    chosen = option_of(best.option.family, best.option.how, asked, mechanisms)
    others = [one.option for one in candidates if one is not best]
    others.sort(key=lambda row: (row.cost is None, row.cost or 0))
    together = prove_total(chosen.how, mechanisms, privacy)
    return Plan(privacy, asked.wanted, mechanisms, (chosen, *others), together)


@dataclass(frozen=True, repr=False)
class Plan:
    """Mechanisms for several answers that keep one promise together. Made by :func:`plan`.

    Attributes:
        privacy: What was asked for.
        wanted: The answers.
        rows: What was considered: first what was chosen, then the others, cheapest first, then
            those that were refused.
        total: What is proved of all answers together: no more than was asked for.
    """

    privacy: Privacy
    wanted: tuple[NumericQuery, ...]
    _ready: tuple[Mechanism, ...]
    rows: tuple[Option, ...]
    total: Privacy
    together = RenamedAttribute[Privacy]("total")
    ready = RenamedAttribute[tuple[Mechanism, ...]]("_ready", advice="mechanisms")
    check = RenamedAttribute[Callable[[], None]]("verify")

    @property
    def mechanisms(self) -> dict[str, Mechanism]:
        """What releases each answer, by its name."""
        return {one.name: made for one, made in zip(self.wanted, self._ready, strict=True)}

    @property
    def family(self) -> str:
        """The kind of noise (:class:`leastnoise.planning.options.Option`)."""
        return self.rows[0].family

    @property
    def cost(self) -> Fraction:
        """The weighted sum of the costs of what is drawn: exact or a proved upper bound.

        Where there are targets alone: the largest error as a part of its target.
        """
        return self.rows[0].cost or Fraction(0)

    def __getitem__(self, name: str) -> Mechanism:
        try:
            return self.mechanisms[name]
        except KeyError:
            raise InvalidParameter(
                f"an answer must be one of those planned, {_names(self.wanted)}, "
                f"got {quote(name)}. Choose one of them."
            ) from None

    def __iter__(self) -> Iterator[str]:
        return (one.name for one in self.wanted)

    def __len__(self) -> int:
        return len(self.wanted)

    def verify(self) -> None:
        """Prove again that each noise keeps its promise, all of them the whole, and the cost.

        Raises:
            NotPrivate: If one does not keep its promise, or all of them not the whole.
            InvalidParameter: If something is not what the plan says.
        """
        for one, mechanism in zip(self.wanted, self._ready, strict=True):
            mechanism.verify()
            stated = (mechanism.sensitivity, mechanism.integer, mechanism.discretized.objective)
            if stated != (one.sensitivity, one.integer, one.objective):
                raise _plan_error("a mechanism is for another answer")
        chosen, asked = self.rows[0], Asked(self.privacy, self.wanted)
        self._check_together()
        if option_of(chosen.family, chosen.how, asked, self._ready) != chosen:
            raise _plan_error("the answers do not cost what it says")
        if asked.missed(chosen.half_widths):
            raise _plan_error("a target is missed")

    def release(
        self,
        values: Mapping[str, Value],
        *,
        ledger: Ledger | Unrecorded = UNRECORDED,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> dict[str, Answer]:
        """Add noise to all true values and return what may be published, by name.

        Args:
            values: A number for each name, taken exactly as it is.
            ledger: Where all answers are recorded as one release, for what they keep together
                (:meth:`leastnoise.Mechanism.release`).
            key: What the question is called there.
            fresh: Whether to charge and draw again under a key that has answers.
            allow_exact: Say that exact values may leave, where a noise needs that
                (:attr:`leastnoise.Mechanism.needs_allow_exact`).

        Raises:
            InvalidParameter: Before anything is charged or drawn, if a value is missing or is no
                number.
            BudgetExceeded: If the ledger has not enough left; nothing is charged.
        """
        try:
            recording = Recording(ledger, key, fresh)
            self._complete(values)
            self._allow(allow_exact)
            return self._release(values, recording)
        except BaseException as error:  # noqa: BLE001 -- it may refer to the values
            failure = without_values(error)
        del values
        raise failure

    def _release(self, values: Mapping[str, Value], recording: Recording) -> dict[str, Answer]:
        draws = [made.releaser.prepare(values[name]) for name, made in self.mechanisms.items()]
        indices, receipt = recording.release(
            self._spending, lambda: tuple(draw() for draw in draws), numbers(len(self))
        )
        made = zip(self.wanted, indices, self._ready, strict=True)
        return {one.name: Answer(index, mechanism, receipt) for one, index, mechanism in made}

    def _spending(self) -> Spending:
        """Return what a ledger is to charge: what all answers are proved to keep together."""
        self._check_together()
        parts = {
            one.name: made.spending() for one, made in zip(self.wanted, self._ready, strict=True)
        }
        mechanisms = {d: found for part in parts.values() for d, found in part.mechanisms.items()}
        names = {name: list(part.mechanisms) for name, part in parts.items()}
        return Spending(self.total, mechanisms, {"answer": "plan", "of": names})

    def _check_together(self) -> None:
        if prove_total(self.rows[0].how, self._ready, self.privacy) != self.total:
            raise _plan_error("the answers keep another promise together")

    def _complete(self, values: object) -> None:
        """Refuse values that are not just those of the plan."""
        if not isinstance(values, Mapping):
            raise InvalidParameter(
                "the values of a plan must be a mapping from names to numbers, got an object of "
                f"type {type(values).__name__}. Give a dictionary with {_names(self.wanted)}."
            )
        missing = [one.name for one in self.wanted if one.name not in values]
        if missing:
            raise InvalidParameter(
                f"a plan releases all its answers at once, {_names(self.wanted)}, got no "
                f"{', '.join(missing)}. Give a value for each."
            )
        unknown = [name for name in values if name not in self.mechanisms]
        if unknown:
            raise InvalidParameter(
                f"the answers of this plan are {_names(self.wanted)}, "
                f"got {quote(unknown[0])} too. Leave it out, or plan for it."
            )

    def _allow(self, allow_exact: object) -> None:
        """Refuse to release where an exact value could leave and nobody has allowed it."""
        peaked = [name for name, made in self.mechanisms.items() if made.needs_allow_exact]
        check_allow_exact(
            allow_exact,
            needed=bool(peaked),
            what="exact values",
            refusal=lambda: (
                f"the noise of {', '.join(peaked)} gives the exact value away with some "
                "probability (exact_probability)"
            ),
        )

    def explain(self, *, people: int | None = None) -> str:
        """Say in plain words what is promised of all answers together, and how it is kept."""
        how = plan_text.how_kept(self.rows[0].how, len(self))
        return f"{self.total.explain(people=people)} {how}"

    def to_dict(self) -> dict[str, Any]:
        """Return the plan for JSON: exact numbers as texts."""
        return {
            "privacy": privacy_to_json(self.privacy),
            "together": privacy_to_json(self.total),
            "family": self.family,
            "how": self.rows[0].how,
            "cost": format_ratio(self.cost),
            "wanted": [one.to_dict() for one in self.wanted],
            "mechanisms": {
                name: {"noise": repr(made.noise), "privacy": privacy_to_json(made.privacy)}
                for name, made in self.mechanisms.items()
            },
            "rows": [row.to_dict() for row in self.rows],
            "means": self.explain(),
        }

    def _repr_html_(self) -> str:
        answers, options = self._tables()
        tables = html_table(answers, self._title()) + html_table(options, "What was considered")
        return tables + html_notes(self._notes(), self.explain())

    def __str__(self) -> str:
        return as_text(self._title(), self._tables(), self._notes(), left=[0, -1])

    def _title(self) -> str:
        return plan_text.title(self.privacy, len(self), self.rows[0])

    def _tables(self) -> tuple[list[list[str]], list[list[str]]]:
        answers = plan_text.answer_cells(self.wanted, self.rows[0])
        return answers, plan_text.option_cells(self.wanted, self.rows)

    def _notes(self) -> list[str]:
        return plan_text.notes(self.total, self.rows, len(self))

    def __repr__(self) -> str:
        return f"Plan({self.privacy!r}: {_names(self.wanted)}; {self.rows[0].name})"


def _parse_problem(privacy: Privacy, wanted: object) -> Asked:
    as_privacy(privacy, "Privacy(1, '1e-6')")
    if not privacy.epsilon and not privacy.delta:
        raise InvalidParameter(
            "at ε = 0 no noise keeps δ = 0: the answers would have to be the same for all data, "
            "got (0, 0). Give ε > 0 or δ > 0."
        )
    if privacy.epsilon > _LARGEST_EPSILON:
        raise Unsupported(
            f"an ε above {_LARGEST_EPSILON} protects nobody, and e^ε is not computed for it, got "
            f"ε = {format_exact(privacy.epsilon)}. Promise less."
        )
    answers = _parse_queries(wanted)
    names = [one.name for one in answers]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidParameter(
            f"the answers of a plan must have names of their own, got {quote(twice[0])} twice. "
            "Rename one."
        )
    return Asked(privacy, answers)


def _parse_queries(wanted: object) -> tuple[NumericQuery, ...]:
    """Return the wanted answers of a list, or refuse what is none."""
    if isinstance(wanted, NumericQuery):
        raise InvalidParameter(
            "a plan must be for a list of answers, got one NumericQuery by itself. Put it in a "
            "list: plan(privacy, [wanted])."
        )
    named = isinstance(wanted, str | bytes | Mapping) or not isinstance(wanted, Iterable)
    answers = () if named or not isinstance(wanted, Iterable) else tuple(wanted)
    other = wanted if named else next((x for x in answers if not isinstance(x, NumericQuery)), None)
    if answers and other is None and all(isinstance(one, NumericQuery) for one in answers):
        return answers
    got = f"an object of type {type(other).__name__}" if answers or named else "none"
    raise InvalidParameter(
        f"a plan must be for at least one NumericQuery, in a list of nothing else, got {got}. "
        'Give for instance [NumericQuery("people", sensitivity=1, integer=True)].'
    )


def _names(wanted: Iterable[NumericQuery]) -> str:
    return ", ".join(one.name for one in wanted)


def _plan_error(what: str) -> InvalidParameter:
    return InvalidParameter(
        f"a plan must prove what it says; {what}. Plan again instead of putting one together."
    )


def _gaussian(mechanism: Mechanism) -> tuple[Fraction, Fraction]:
    """Return the move that shared noise protects against, and its σ; reject other noise."""
    law = mechanism.discretized.noise
    if not isinstance(law, Rounded) or not isinstance(law.noise, Gaussian):
        raise NotPrivate(f"shared noise must be Gaussian, got {law!r}. Plan again.")
    return mechanism.effective_sensitivity, law.noise.sigma


def prove_total(how: str, mechanisms: tuple[Mechanism, ...], asked: Privacy) -> Privacy:
    """Return what the mechanisms keep together; raise NotPrivate if that is more than was asked.

    By their own guarantees, as one Gaussian noise (both :mod:`leastnoise.core.basic_composition`),
    or by composing what they draw (:func:`leastnoise.compose`). A long δ is rounded up.
    """
    if how == SHARED:
        reached = basic_composition.compose_gaussians(map(_gaussian, mechanisms), asked.epsilon)
    elif how == COMPOSED:
        reached = Privacy(asked.epsilon, compose(mechanisms).delta(asked.epsilon))
    else:
        reached = basic_composition.compose_basic(
            (made.privacy for made in mechanisms), asked.delta
        )
    if reached.epsilon > asked.epsilon or reached.delta > asked.delta:
        raise NotPrivate(
            f"all answers of a plan together must keep {asked}; these keep {reached}. Plan again."
        )
    if not reached.delta:
        return reached
    short = Fraction(format_rounded(reached.delta, _DIGITS, ROUND_CEILING))
    return Privacy(reached.epsilon, min(short, asked.delta))
