"""Check the cost of a spend against the noise that its row describes.

A spend states what it costs in an allocation, (μ², γ), and names the descriptions of its noise. The
two contradict each other if the noise, at some ε, needs a larger δ than the cost grants:

    δ of the noise at ε  >  γ + (1 − γ)·δ_μ(ε).

The guarantee in a description of noise contradicts that noise if its δ at ε is larger. All sides
are enclosed, so a cost that is valid is never rejected, however it was found. How often
one unit changes each number is read from the query. Gaussian noise is checked in total, truncated
Gaussian noise up to the mass beyond its ends. Selections are checked one at a time and in total
(:mod:`leastnoise.ledger.selection_costs`), any other noise one release at a time.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.ledger.rows import Content, compute_digest, identify, parse_amount
from leastnoise.ledger.selection_costs import selections_exceed
from leastnoise.ledger.sums import Sum

if TYPE_CHECKING:
    from leastnoise.core.noise import LatticeNoise, Noise

# The ε at which Gaussian noise is compared with a cost that has γ > 0, in multiples of its μ.
_PLACES = tuple(Fraction(number, 2) for number in range(12))
# For other noise the multiples of its own ε, and an ε beyond which only outputs that prove a fact
# remain.
_PARTS = (Fraction(0), Fraction(1, 2), Fraction(1))
_FAR = Fraction(64)
_BITS = 64


class Stated(NamedTuple):
    """A charge as its row states it.

    Attributes:
        query: The query.
        mechanisms: The digests of the mechanisms.
        guarantee: (ε, δ).
        cost: (μ², γ) of a spend; None for a charge of the guarantee.
    """

    query: Content
    mechanisms: tuple[str, ...]
    guarantee: Sum
    cost: Sum | None


class Described:
    """The facts in the description of a mechanism: its guarantee, and its smallest cost."""

    def __init__(self, description: Content) -> None:
        """Read the identifying fields of a description."""
        self._identity = identify(description)
        self.integer = bool(self._identity.get("integer", True))  # a selection is of integers

    @cached_property
    def guarantee(self) -> Sum:
        """(ε, δ) of one release."""
        privacy = self._identity["privacy"]
        return parse_amount(privacy["epsilon"]), parse_amount(privacy["delta"])

    @cached_property
    def contradicts_itself(self) -> bool:
        """Whether the noise of one release needs a larger δ at ε than the guarantee states.

        A selection states no noise, and noise of an unknown kind cannot be rebuilt.
        """
        kind = self._identity.get("drawn", {}).get("kind")
        if kind != "Vector" and kind not in _noise_classes():
            return False
        epsilon, delta = self.guarantee
        return self.facts.find_delta(epsilon) > delta

    @cached_property
    def facts(self) -> "_Facts":
        """The facts that the description proves about one release."""
        return _find_facts(self._identity)


_KNOWN: dict[str, Described] = {}
_MOST_KNOWN = 1000


def read_described(digest: str, description: Content) -> Described:
    """Return a mechanism by its digest; it is read once.

    Raises:
        ValueError: Or similar, if the description has another digest, or is malformed.
    """
    described = _KNOWN.get(digest)
    if described is None:
        if compute_digest(description) != digest:
            raise ValueError
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        described = _KNOWN[digest] = Described(description)
    return described


def check_described(stated: Stated, described: Mapping[str, Described]) -> None:
    """Raise a ValueError if a charge contradicts its mechanisms, which are given by digest.

    A query of a program's own kind does not say how it uses its noise, so nothing contradicts it.
    """
    query = stated.query
    if "answer" not in query:
        return
    times = _COUNTS[query["answer"]](query, stated.mechanisms)
    if any(described[digest].contradicts_itself for digest in times):
        raise ValueError
    if query["answer"] in _SINGLE and _is_weaker(stated, times, described):
        raise ValueError
    if stated.cost is None:
        return
    parts = [(described[digest].facts, count) for digest, count in times.items()]
    square = sum((count * facts.square for facts, count in parts), Fraction(0))
    beyond = sum((count * facts.beyond for facts, count in parts), Fraction(0))
    selections: Counter[Fraction] = Counter()
    for facts, count in parts:
        if facts.selecting:
            selections[facts.selecting] += count
    if (
        _combine_failures(parts) > stated.cost[1]
        or _gaussian_exceeds(square, beyond, stated.cost)
        or any(facts.exceeds(*stated.cost) for facts, _ in parts)
        or (selections.total() > 1 and selections_exceed(selections, *stated.cost))
    ):
        raise ValueError


def _is_weaker(
    stated: Stated, times: Mapping[str, int], described: Mapping[str, Described]
) -> bool:
    """Return whether a mechanism satisfies less than a charge of it alone states.

    The guarantee of plans and tables is not the sum of those of their numbers.
    """
    for digest, count in times.items():
        epsilon, delta = described[digest].guarantee
        if stated.guarantee[0] < count * epsilon or stated.guarantee[1] < delta:
            return True
    return False


def _combine_failures(parts: "list[tuple[_Facts, int]]") -> Fraction:
    """Return at most the γ of all releases together: 1 − Π(1 − γ) ≥ x − x²/2 with x = Σγ."""
    total = sum((count * facts.failure for facts, count in parts), Fraction(0))
    return max(total - total**2 / 2, *(facts.failure for facts, _ in parts))


class _Facts(NamedTuple):
    """The facts that a description proves about one release.

    Attributes:
        square: μ² of Gaussian noise, which adds up exactly; 0 for other noise.
        beyond: The probability that truncating this Gaussian noise removed; else 0.
        failure: At most γ of bounded Gaussian noise; else 0.
        selecting: The ε of a selection; else 0.
        exceeds: Whether the noise needs more than a cost (μ², γ), for noise that is not Gaussian.
        find_delta: Returns at most the δ of the noise at an ε; 0 if that is not known.
    """

    square: Fraction = Fraction(0)
    beyond: Fraction = Fraction(0)
    failure: Fraction = Fraction(0)
    selecting: Fraction = Fraction(0)
    exceeds: Callable[[Fraction, Fraction], bool] = lambda _, __: False
    find_delta: Callable[[Fraction], Fraction] = lambda _: Fraction(0)


def _find_facts(content: Content) -> _Facts:
    """Return the facts in the identifying fields of a description."""
    from leastnoise.core.exact import gaussian_delta
    from leastnoise.core.lattice import effective_sensitivity, effective_square
    from leastnoise.core.noise import Gaussian, LatticeNoise, Rounded, TruncatedGaussian

    delta, sampled = parse_amount(content["sensitivity"]), content.get("drawn")
    epsilon = parse_amount(content["privacy"]["epsilon"])
    if sampled is None:
        return _Facts(selecting=epsilon, exceeds=_of_guarantee(epsilon))
    integer = content["integer"]
    if sampled["kind"] == "Vector":
        each = _read_noise(sampled["each"])
        if not isinstance(each, Rounded) or not isinstance(each.noise, Gaussian):
            raise ValueError
        size = sampled["dimension"]
        most = effective_square(delta, each.step, dimension=size, integer=integer)
        square = most / each.noise.sigma**2
        return _Facts(square, find_delta=lambda at: gaussian_delta(square, at, _BITS).lower)
    if sampled["kind"] not in _noise_classes():
        return _Facts(exceeds=_of_guarantee(epsilon))  # noise for pairs
    noise = _read_noise(sampled)
    if not isinstance(noise, LatticeNoise):
        raise ValueError  # noise is sampled on a lattice
    shift = effective_sensitivity(delta, noise.step, integer=integer)
    find_delta = partial(_find_delta, noise, shift)
    if isinstance(noise, Rounded) and isinstance(noise.noise, Gaussian):
        square = (shift // noise.step * noise.step / noise.noise.sigma) ** 2
        return _Facts(square, find_delta=find_delta)
    if isinstance(noise, Rounded) and isinstance(noise.noise, TruncatedGaussian):
        line, distance = noise.noise, shift // noise.step * noise.step
        outside = 2 * Gaussian(line.sigma).tail(line.radius, _BITS).upper
        revealed = (
            line.below(distance - line.radius).lower if distance < 2 * line.radius else Fraction(1)
        )
        return _Facts((distance / line.sigma) ** 2, outside, revealed, find_delta=find_delta)
    return _Facts(exceeds=_of_profile(noise, shift, epsilon), find_delta=find_delta)


def _find_delta(noise: "LatticeNoise", shift: Fraction, epsilon: Fraction) -> Fraction:
    """Return at most the δ of noise at ε for shifts up to a length; 0 if it would take too long."""
    from leastnoise.core.profile import Level

    try:
        return noise.curve(shift).worst(Level.at(epsilon))[0].lower
    except (InvalidParameter, Unsupported):
        return Fraction(0)


def _of_guarantee(epsilon: Fraction) -> Callable[[Fraction, Fraction], bool]:
    """Return the check of a selection or a pair, which cost what their ε costs.

    Without γ that is μ(ε)². With γ it is what randomized response at ε needs at a few ε. Everything
    that is valid for releases by their ε alone is valid for it, also if they are several.
    """
    from leastnoise.core.exact import exponential, square_of_epsilon

    least = square_of_epsilon(epsilon).lower

    @lru_cache(maxsize=1)
    def find_needed() -> list[tuple[Fraction, Fraction]]:
        odds = exponential(epsilon)
        places = sorted({epsilon * part for part in _PARTS})
        return [
            (place, (odds.lower - exponential(place).upper) / (1 + odds.upper)) for place in places
        ]

    @lru_cache(maxsize=64)
    def exceeds(square: Fraction, failure: Fraction) -> bool:
        if not failure or square >= least:
            return square < least
        return any(
            delta > _find_granted_delta(square, failure, place) for place, delta in find_needed()
        )

    return exceeds


def _of_profile(
    noise: "LatticeNoise", shift: Fraction, epsilon: Fraction
) -> Callable[[Fraction, Fraction], bool]:
    """Return the check of noise by its profile at a few ε, 0 and its own among them."""

    @lru_cache(maxsize=1)
    def find_needed() -> "list[tuple[Fraction, Fraction]]":
        from leastnoise.core.profile import Level

        try:
            curve = noise.curve(shift)
            places = [*(epsilon * part for part in _PARTS), max(_FAR, 2 * epsilon)]
            return [(place, curve.worst(Level.at(place))[0].lower) for place in sorted({*places})]
        except Unsupported:  # it would take too long
            return []

    @lru_cache(maxsize=64)
    def exceeds(square: Fraction, failure: Fraction) -> bool:
        return any(
            delta > _find_granted_delta(square, failure, place) for place, delta in find_needed()
        )

    return exceeds


def _gaussian_exceeds(square: Fraction, beyond: Fraction, cost: Sum) -> bool:
    """Return whether Gaussian noise of a total μ² needs more than a cost.

    Truncating noise moves each of two distributions by the probability ``beyond``, so δ(ε) falls by
    at most (1 + e^ε) times that.
    """
    from leastnoise.core.exact import exponential, gaussian_delta, power

    if square <= cost[0]:
        return False
    if not beyond and not cost[1]:
        return True
    mu = power(square, Fraction(1, 2)).upper
    for place in _PLACES:
        epsilon = Fraction(round(place * mu * (1 << 30)), 1 << 30)
        lost = beyond * (1 + exponential(epsilon).upper)
        if gaussian_delta(square, epsilon, _BITS).lower - lost > _find_granted_delta(
            *cost, epsilon
        ):
            return True
    return False


def _find_granted_delta(square: Fraction, failure: Fraction, epsilon: Fraction) -> Fraction:
    """Return at least γ + (1 − γ)·δ_μ(ε), the δ that a cost grants."""
    from leastnoise.core.gaussian_cost import GaussianCost

    return GaussianCost(square, failure).delta(epsilon)


def _count_one(_: Content, mechanisms: tuple[str, ...]) -> Mapping[str, int]:
    return dict.fromkeys(mechanisms, 1)


def _count_array(query: Content, mechanisms: tuple[str, ...]) -> Mapping[str, int]:
    touched: int = query["touches"]
    return dict.fromkeys(mechanisms, touched)


def _count_plan(query: Content, _: tuple[str, ...]) -> Mapping[str, int]:
    digests: list[str] = [digest for each in query["of"].values() for digest in each]
    return Counter(digests)


def _count_tables(query: Content, _: tuple[str, ...]) -> Mapping[str, int]:
    """Count the numbers that one unit can change; equal places are one number."""
    noise, questions = query["noise"], query["questions"]
    distinct: dict[int, tuple[str, int]] = {}
    for question, digests, places in zip(questions, noise, _read_places(query), strict=True):
        groups = question.get("max_groups", 1)
        if type(groups) is not int or groups < 1:
            raise ValueError
        groups = 1 if query["unit"] is None else groups
        grouped = "by" in question or "edges" in question
        touched = 2 * groups if grouped and query["neighbours"] == "replace" else groups
        for digest, place in zip(digests, places, strict=True):
            known, most = distinct.get(place, (digest, touched))
            if known != digest:
                raise ValueError  # one number has one noise
            distinct[place] = digest, max(most, touched)
    times: Counter[str] = Counter()
    for digest, touched in distinct.values():
        times[digest] += touched
    return times


def _read_places(query: Content) -> list[list[int]]:
    """Return the places of the numbers of each question among all distinct numbers, from 0 on."""
    numbers: list[list[int]] | None = query.get("numbers")
    if numbers is None:
        following = iter(range(sum(map(len, query["noise"]))))
        return [[next(following) for _ in own] for own in query["noise"]]
    every = [place for own in numbers for place in own]
    if any(type(place) is not int for place in every) or {*every} != {*range(len({*every}))}:
        raise ValueError
    return numbers


# The queries that use one mechanism.
_SINGLE = ("one", "many", "pair", "selection")
_COUNTS: dict[str, Callable[[Content, tuple[str, ...]], Mapping[str, int]]] = {
    "one": _count_one,
    "many": _count_array,
    "pair": _count_one,
    "plan": _count_plan,
    "selection": _count_one,
    "tables": _count_tables,
}


@lru_cache(maxsize=1)
def _noise_classes() -> "dict[str, type[Noise]]":
    from leastnoise.core.noise import STORED_NOISES

    return {noise.__name__: noise for noise in STORED_NOISES}


def _read_noise(plain: Content) -> "Noise":
    """Return noise from its description; raise a ValueError, or similar, if it is malformed."""
    noise = _noise_classes()[plain["kind"]]
    if plain.keys() != {"kind", *noise.stored}:
        raise ValueError
    return noise.restore(**{name: _read(kind, plain[name]) for name, kind in noise.stored.items()})


def _read(kind: str, plain: Any) -> object:
    """Return a value of the kinds that noise is stored by (``Noise.stored``)."""
    from leastnoise.core.noise import Run

    if kind == "integer":
        return int(plain)
    if kind == "integers":
        return tuple(map(int, plain))
    if kind == "rational":
        return Fraction(plain)
    if kind == "rationals":
        return tuple(map(Fraction, plain))
    if kind == "pairs":
        return tuple((Fraction(a), Fraction(b)) for a, b in plain)
    if kind == "runs":
        return tuple(Run(own["first"], own["points"], own["weight"]) for own in plain)
    return _read_noise(plain)
