"""``plan``: noise for several answers about the same people, with a proof of the total guarantee.

The guarantee is split (:mod:`leastnoise.planning.split`), or all answers share Gaussian noise
(:mod:`leastnoise.planning.shared`), or blocks of answers have joint noise
(:mod:`leastnoise.planning.joint`). All three only propose noise. The total guarantee is proved
here, from the discretized noise.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from leastnoise.calibration import Effort, parse_effort
from leastnoise.core.exact import Number, format_ratio, quote
from leastnoise.core.privacy import Privacy
from leastnoise.core.tape import Draw, Tape
from leastnoise.core.withholding import without_values
from leastnoise.deprecation import RenamedAttribute, renamed_arguments
from leastnoise.errors import InvalidParameter, parameter
from leastnoise.ledger import (
    UNRECORDED,
    AllocatedPrivacy,
    Ledger,
    Recording,
    Spending,
    Unrecorded,
    privacy_to_json,
)
from leastnoise.mechanism import (
    Answer,
    JointMechanism,
    JointPart,
    Mechanism,
    check_allow_exact,
    find_blocks,
    numbers,
)
from leastnoise.planning import plan_text
from leastnoise.planning.charges import describe_charge, find_amount, find_cost
from leastnoise.planning.impossible import explain_impossible
from leastnoise.planning.joint import join
from leastnoise.planning.numeric_query import NumericQuery
from leastnoise.planning.options import Candidate, Option, PlanProblem, option_of, parse_problem
from leastnoise.planning.shared import share as share_gaussian
from leastnoise.planning.split import solve as solve_split
from leastnoise.planning.split import split
from leastnoise.planning.totals import prove_total
from leastnoise.rendering import as_text, html_notes, html_table, one_line, paragraph

# The solver gains less than this factor: it does not run for a split that costs more than that.
_SOLVING = Fraction(3, 2)
# The number of names that messages list.
_MOST_NAMES = 5

Value = int | float | Fraction | Decimal


@renamed_arguments(wanted="queries")
def plan(
    privacy: Privacy | None = None,
    queries: Iterable[NumericQuery] = (),
    *,
    solve: bool = True,
    seconds: Number = 10,
    ledger: Ledger | None = None,
    share: Number | None = None,
) -> "Plan":
    """Choose noise for several answers so that one guarantee covers all of them together.

    One person may change every answer, each by up to its sensitivity. There are three options: to
    split the guarantee among the answers, each with the cheapest noise for its part; joint noise,
    which is better for about 2 to 40 answers and needs no δ; and Gaussian noise that all answers
    share, which is better for many answers. The parts and shares are closed
    forms or come from estimates in floats, and are not proved to be the best ones. The total
    guarantee is proved exactly, from the discretized noise.

    Without the solver a plan takes some milliseconds for each distinct answer. A cost given as a
    Python function takes a second or two, most of it for its certificate.

    Args:
        privacy: The guarantee for all answers together, or the remaining part of an allocation
            (``allocation.remaining``). Not with ``share``.
        queries: The numeric queries to answer, with their costs or targets.
        solve: Whether to run the solver for answers of a split, if no closed form is proved
            optimal. For several answers it runs only where it can gain more than 0.2%: where the
            part of ε is above 1/8 and that of δ above 1/1000, or the cost is no power of the error.
            Default: True.
        seconds: The time limit for the solver, for all answers together. Closed forms and proofs
            are computed in addition to this time. Default: 10.
        ledger: The ledger or allocation that the plan will be charged to. The printed plan then
            states its charge, and what Gaussian accounting saves. Nothing is charged. Default:
            none.
        share: Instead of a guarantee, the share of the limit of ``ledger``, or of the allocation
            that it is: there all answers have Gaussian noise, and cost exactly this part of μ².

    Returns:
        The cheapest option found, with its mechanisms.

    Raises:
        InvalidParameter: If an argument is invalid, or the guarantee does not allow the targets.
            Then the message suggests a sufficient ε, and errors that are possible.
        Unsupported: If ε is larger than 5000.

    >>> queries = [NumericQuery("people", sensitivity=1, integer=True),
    ...            NumericQuery("income", sensitivity=4)]
    >>> chosen = plan(Privacy(1), queries)
    >>> chosen.rows[0].how, chosen.total
    ('joint', Privacy(epsilon=1, delta=0))
    >>> sorted(chosen.release({"people": 42, "income": 123.5}))
    ['income', 'people']
    """
    effort = parse_effort(solve, Effort().gap, seconds)
    problem = parse_problem(find_amount(privacy, ledger, share), queries)
    candidates = [split(problem), share_gaussian(problem)]
    costs = [candidate.option.cost for candidate in candidates]
    candidates.append(
        join(problem, min((cost for cost in costs if cost is not None), default=None))
    )
    possible = sorted((candidate for candidate in candidates if candidate.mechanisms), key=_cost)
    if not possible:
        raise explain_impossible(problem, candidates)
    parted = candidates[0]
    if effort.solve and parted.parts and _cost(parted) <= _SOLVING * _cost(possible[0]):
        candidates[0] = solve_split(problem, parted, effort.seconds)
    best = min((candidate for candidate in candidates if candidate.mechanisms), key=_cost)
    others = [candidate.option for candidate in candidates if candidate is not best]
    for mechanism in {id(mechanism): mechanism for mechanism in best.mechanisms}.values():
        if not isinstance(mechanism, JointPart):  # joint noise is proved in total
            mechanism.certificate.verify()
    total = prove_total(best.option.how, best.mechanisms, problem.privacy)
    note = None
    if ledger is not None:
        allocated = isinstance(problem.privacy, AllocatedPrivacy)
        proved = problem if allocated else replace(problem, privacy=total)
        note = describe_charge(ledger, proved, best.option, best.mechanisms)
    rows = (best.option, *others)
    return Plan(problem.privacy, problem.queries, best.mechanisms, rows, total, note)


def _cost(candidate: Candidate) -> Fraction:
    return candidate.option.cost or Fraction(0)


@dataclass(frozen=True, repr=False)
class Plan:
    """Mechanisms for several answers that satisfy one guarantee together; built by :func:`plan`.

    A plan is a mapping-like object: it has a length, iterates over the names of its answers, and
    ``plan[name]`` is the mechanism of an answer.

    Attributes:
        privacy: The guarantee that was requested.
        queries: The numeric queries to answer.
        rows: The options: the chosen one, then the other one, with its cost or why it was rejected.
        total: The proved guarantee of all answers together, at least as strong as ``privacy``.
        accounting: The part of a ledger that the plan costs, and what Gaussian accounting saves, in
            words; None if the plan was made without a ledger.
    """

    privacy: Privacy
    queries: tuple[NumericQuery, ...]
    _ready: tuple[Mechanism, ...]
    rows: tuple[Option, ...]
    total: Privacy
    accounting: str | None = None
    wanted = RenamedAttribute[tuple[NumericQuery, ...]]("queries")
    together = RenamedAttribute[Privacy]("total")
    ready = RenamedAttribute[tuple[Mechanism, ...]]("_ready", advice="mechanisms")
    check = RenamedAttribute[Callable[[], None]]("verify")

    @property
    def mechanisms(self) -> dict[str, Mechanism]:
        """The mechanism of each answer, by name."""
        pairs = zip(self.queries, self._ready, strict=True)
        return {query.name: mechanism for query, mechanism in pairs}

    @property
    def family(self) -> str:
        """The family of noise of the chosen option (:class:`leastnoise.planning.Option`)."""
        return self.rows[0].family

    @property
    def cost(self) -> Fraction:
        """The weighted sum of expected costs of the discretized noise, or an upper bound of it.

        If there are only targets, the largest ratio of an error to its target.
        """
        return self.rows[0].cost or Fraction(0)

    def __getitem__(self, name: str) -> Mechanism:
        try:
            return self.mechanisms[name]
        except KeyError:
            raise InvalidParameter(
                parameter("name") + f" must be one of {_list_names(self.queries)}",
                got=quote(name),
                fix="Use the name of an answer of this plan.",
            ) from None

    def __iter__(self) -> Iterator[str]:
        return (query.name for query in self.queries)

    def __len__(self) -> int:
        return len(self.queries)

    def verify(self) -> None:
        """Verify again the guarantee of each mechanism, the total guarantee, costs and targets.

        Raises:
            NotPrivate: If a mechanism does not satisfy its guarantee, or all of them together do
                not satisfy the total.
            InvalidParameter: If a cost, a target or a mechanism differs from the plan.
        """
        for query, mechanism in zip(self.queries, self._ready, strict=True):
            mechanism.verify()
            stated = (mechanism.sensitivity, mechanism.integer, mechanism.discretized.objective)
            if stated != (query.sensitivity, query.integer, query.objective):
                raise _plan_error("A mechanism of this plan is for another answer")
        chosen, problem = self.rows[0], PlanProblem(self.privacy, self.queries)
        self._check_total()
        if option_of(chosen.family, chosen.how, problem, self._ready) != chosen:
            raise _plan_error("The costs of this plan differ from those of its mechanisms")
        if problem.misses(chosen.half_widths):
            raise _plan_error("This plan misses a target")

    def release(
        self,
        values: Mapping[str, Value],
        *,
        ledger: Ledger | Unrecorded = UNRECORDED,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> dict[str, Answer]:
        """Add noise to all true values and return the answers, which may be published.

        All answers are one release, charged once with the total guarantee.

        Args:
            values: A number for each name, used exactly as it is.
            ledger: The ledger to charge (:meth:`leastnoise.Mechanism.release`). Default: the
                release is not recorded.
            key: The name of the query in the ledger. Default: every release is a new query.
            fresh: True to charge again and sample new noise under a key that has answers. Default:
                False.
            allow_exact: True to accept that exact values can be released; required if a mechanism
                has :attr:`leastnoise.Mechanism.needs_allow_exact`. Default: False.

        Returns:
            The answers by name.

        Raises:
            InvalidParameter: If a value is missing, unknown or not a finite number. Nothing was
                charged.
            BudgetExceeded: If too little budget remains. Nothing was charged or released.
        """
        try:
            recording = Recording(ledger, key, fresh)
            self._check_names(values)
            self._check_allow_exact(allow_exact)
            return self._release(values, recording)
        except BaseException as error:  # noqa: BLE001 -- it may refer to the values
            failure = without_values(error)
        del values
        raise failure

    def _release(self, values: Mapping[str, Value], recording: Recording) -> dict[str, Answer]:
        draw = self._prepare([values[name] for name in self])
        indices, receipt = recording.release(self._spending, draw, numbers(len(self)))
        parts = zip(self.queries, indices, self._ready, strict=True)
        return {query.name: Answer(index, mechanism, receipt) for query, index, mechanism in parts}

    def _prepare(self, values: list[Value]) -> Draw[tuple[int, ...]]:
        """Check values without reading bits; return the function that adds noise to all."""
        draws = []
        for block, places in find_blocks(self._ready):
            own = [values[place] for place in places]
            if isinstance(block, JointMechanism):
                draws.append((places, block.releaser.prepare(own)))
            else:
                single = block.releaser.prepare(own[0])
                draws.append((places, lambda tape=None, single=single: (single(tape),)))

        def draw(tape: Tape | None = None) -> tuple[int, ...]:
            indices = [0] * len(values)
            for places, add in draws:
                for place, index in zip(places, add(tape), strict=True):
                    indices[place] = index
            return tuple(indices)

        return draw

    def _spending(self) -> Spending:
        """Return the charge: the proved total guarantee."""
        self._check_total()
        parts = {name: mechanism.spending() for name, mechanism in self.mechanisms.items()}
        mechanisms = {
            digest: description
            for part in parts.values()
            for digest, description in part.mechanisms.items()
        }
        names = {name: list(part.mechanisms) for name, part in parts.items()}
        return Spending(
            self.total,
            mechanisms,
            {"answer": "plan", "of": names},
            find_costs=lambda: (find_cost(self.privacy, self._ready),),
        )

    def _check_total(self) -> None:
        if prove_total(self.rows[0].how, self._ready, self.privacy) != self.total:
            raise _plan_error("The mechanisms of this plan have another total guarantee")

    def _check_names(self, values: object) -> None:
        """Reject values whose names are not those of the plan."""
        if not isinstance(values, Mapping):
            raise InvalidParameter(
                "values must be a mapping from names to numbers",
                got=f"an object of type {type(values).__name__}",
                fix=f"Use a dictionary with {_list_names(self.queries)}.",
            )
        missing = [query for query in self.queries if query.name not in values]
        if missing:
            raise InvalidParameter(
                "values must have all answers of the plan, because they are released together",
                got=f"no {_list_names(missing)}",
                fix="Add a value for each answer.",
            )
        unknown = [name for name in values if name not in self.mechanisms]
        if unknown:
            raise InvalidParameter(
                f"values must have the names of the plan, {_list_names(self.queries)}",
                got=f"{quote(unknown[0])} too",
                fix="Omit it, or plan for it.",
            )

    def _check_allow_exact(self, allow_exact: object) -> None:
        """Reject a release that can be exact, unless the caller has accepted that."""
        parts = zip(self.queries, self._ready, strict=True)
        exact = [query for query, mechanism in parts if mechanism.needs_allow_exact]
        check_allow_exact(
            allow_exact,
            needed=bool(exact),
            what="exact values",
            refusal=lambda: (
                f"The exact value of {_list_names(exact)} is released with some probability "
                "(exact_probability)"
            ),
        )

    def explain(self, *, people: int | None = None) -> str:
        """Explain in plain words the total guarantee, and how the answers satisfy it.

        Args:
            people: The number of people that the data is about, if it is public
                (:meth:`Privacy.explain`). Default: unknown.
        """
        how = plan_text.explain_total(self.rows[0].how, len(self))
        return paragraph(self.total.explain(people=people), how)

    def to_dict(self) -> dict[str, object]:
        """Return the plan for JSON, with exact numbers as strings."""
        return {
            "privacy": privacy_to_json(self.privacy),
            "together": privacy_to_json(self.total),
            "family": self.family,
            "how": self.rows[0].how,
            "cost": format_ratio(self.cost),
            "wanted": [query.to_dict() for query in self.queries],
            "mechanisms": {
                name: {"noise": repr(own.noise), "privacy": privacy_to_json(own.privacy)}
                for name, own in self.mechanisms.items()
            },
            "rows": [row.to_dict() for row in self.rows],
            "means": one_line(self.explain()),
        }

    def _repr_html_(self) -> str:
        answers, options = self._tables()
        tables = html_table(answers, self._title()) + html_table(options, "Options")
        return tables + html_notes(self._notes(), self.explain())

    def __str__(self) -> str:
        return as_text(self._title(), self._tables(), self._notes(), left=[0, -1])

    def _title(self) -> str:
        return plan_text.title(self.privacy, len(self), self.rows[0])

    def _tables(self) -> tuple[list[list[str]], list[list[str]]]:
        answers = plan_text.answer_cells(self.queries, self.rows[0])
        return answers, plan_text.option_cells(self.queries, self.rows)

    def _notes(self) -> list[str]:
        notes = plan_text.notes(self.total, self.queries, self.rows)
        return notes if self.accounting is None else [*notes, self.accounting]

    def __repr__(self) -> str:
        return f"Plan({self.privacy!r}: {_list_names(self.queries)}; {self.rows[0].name})"


def _list_names(queries: Iterable[NumericQuery]) -> str:
    """Return the first names of queries, and the number of the others."""
    names = [query.name for query in queries]
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _plan_error(problem: str) -> InvalidParameter:
    return InvalidParameter(problem, fix="Build plans with plan().")
