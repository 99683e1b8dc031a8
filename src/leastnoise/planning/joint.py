"""Joint noise for the answers of a plan: in one block, or in several blocks that split ε.

Joint noise of j numbers at ε has about E|Xᵢ|ᵖ = c(j)·(Δᵢ/ε)ᵖ, c(j) = (j+p)·Γ(j+p)/((p+1)·j·Γ(j)).
So a block B costs A/ε_Bᵖ with A = c(j)·Σ wᵢΔᵢᵖ, and the optimal parts of ε are proportional to
A^(1/(p+1)) (Lagrange). Answers are sorted by wᵢΔᵢᵖ, and the blocks are runs of the sorted answers.
Equal answers are in one block, because c(j)·j grows more slowly than j^(p+1).

For targets, let t be such that ε|Xᵢ| ≤ tΔᵢ with the confidence of the target. The box of j numbers
has a Gamma distribution of shape j + 1 and a number is uniform in it, so t solves

    1 − confidence  =  Q(j + 1, t) − (t/j)·Q(j, t),   Q(a, t) = Σ e^−t·tⁱ/i! over i < a.

The part of ε of a block is proportional to its largest t·Δᵢ/errorᵢ. Only the choice of blocks and
of their parts depends on these estimates.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from leastnoise.calibration import find_joint
from leastnoise.core.exact import as_float
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Power
from leastnoise.errors import InvalidParameter, NotPrivate, Unsupported
from leastnoise.ledger import AllocatedPrivacy
from leastnoise.mechanism import JointMechanism, Mechanism
from leastnoise.planning.numeric_query import NumericQuery
from leastnoise.planning.options import (
    JOINT,
    Candidate,
    PlanProblem,
    calibrate_query,
    option_of,
)
from leastnoise.planning.shares import TooLittle, make_guarantees

BOXES = "boxes"
# The most places where a block may end, and the most answers of a block.
_MOST_ENDS, _MOST_NUMBERS = 64, 256
# Noise is wide if there are at least this many answers for an ε of 1; and a factor that is far.
_WIDE, _FAR = 8, 1.25
# δ is not spent if without it the cost is larger by at most this factor.
_SAVING = Fraction(1005, 1000)
# The largest exponent of a cost that joint noise is found for.
_LARGEST_POWER = 8
# The halvings of the search for an error at a confidence.
_HALVINGS = 40

# The places of the answers that get joint noise together.
Block = tuple[int, ...]


def join(problem: PlanProblem, known: Fraction | None = None) -> Candidate:
    """Return joint noise for blocks of answers, and noise of their own for the other answers.

    Args:
        problem: The problem.
        known: The cost of another option, if there is one. Joint noise that costs far more by the
            estimate is not built, which would take longer than all else for many answers.
    """
    try:
        first, *others = _propose(problem)
    except (InvalidParameter, Unsupported) as error:
        return Candidate.from_error(BOXES, JOINT, error)
    found = _try(problem, first, known)
    for blocks in others:
        if not found.mechanisms:
            found = min(found, _try(problem, blocks, known), key=_find_lack)
    return found


def _find_lack(candidate: Candidate) -> float:
    """Return the factor by which a candidate misses a target: 0 if it meets all."""
    if candidate.mechanisms:
        return 0.0
    return (candidate.lacking and candidate.lacking.factor) or math.inf


def _propose(problem: PlanProblem) -> list[list[Block]]:
    """Return blocks to try in turn: those of about the lowest cost, then all answers in one.

    If some answers have only targets and others only costs, the estimates do not compare them.
    """
    if isinstance(problem.privacy, AllocatedPrivacy):
        raise InvalidParameter(
            "in an allocation, Gaussian noise costs less", fix="Plan for a guarantee."
        )
    if not problem.privacy.epsilon:
        raise InvalidParameter("joint noise requires ε > 0", fix="Use ε > 0.")
    queries = problem.queries
    free = tuple(place for place, query in enumerate(queries) if query.family is None)
    forced = [(place,) for place, query in enumerate(queries) if query.family is not None]
    one_block = [*forced, free]
    if 1 < len(free) <= _MOST_NUMBERS and problem.targets:
        mixed = any(query.cost is None for query in queries) and not problem.only_targets
        return [one_block] if mixed else [_find_blocks(problem), one_block]
    return [_find_blocks(problem)]


def _try(problem: PlanProblem, blocks: Sequence[Block], known: Fraction | None) -> Candidate:
    """Return the plan with these blocks, or why it was rejected; it spends no δ that saves little.

    Only answers with noise of their own can use δ.
    """
    try:
        _check_worth(problem, blocks, known)
        found = _make_candidate(problem, blocks)
    except (InvalidParameter, NotPrivate, Unsupported) as error:
        return Candidate.from_error(BOXES, JOINT, error)
    if problem.privacy.delta and any(len(block) == 1 for block in blocks):
        try:
            less = replace(problem, privacy=Privacy(problem.privacy.epsilon))
            pure = _make_candidate(less, blocks)
        except (InvalidParameter, NotPrivate, Unsupported):
            return found
        if _cost(pure) <= _cost(found) * _SAVING:
            return pure
    return found


def _make_candidate(problem: PlanProblem, blocks: Sequence[Block]) -> Candidate:
    mechanisms = _build(problem, blocks)
    option = option_of(BOXES, JOINT, problem, mechanisms)
    missed = max(problem.target_ratios(option.half_widths), default=Fraction(0))
    if missed > 1:  # errors are about proportional to 1/ε
        raise TooLittle("it misses a target", problem.privacy.epsilon * missed, as_float(missed))
    return Candidate(option, mechanisms)


def _cost(candidate: Candidate) -> Fraction:
    return candidate.option.cost or Fraction(0)


def _build(problem: PlanProblem, blocks: Sequence[Block]) -> tuple[Mechanism, ...]:
    """Return the mechanism of each answer, for a part of the guarantee for each block."""
    exponent, queries = _find_exponent(problem), problem.queries
    sizes = [_weigh(problem, block, exponent) ** (1 / (exponent + 1)) for block in blocks]
    alone = [1.0 if len(block) == 1 else 0.0 for block in blocks]
    mechanisms: dict[int, Mechanism] = {}
    known: dict[object, Mechanism] = {}
    for block, part in zip(blocks, make_guarantees(problem.privacy, sizes, alone), strict=True):
        if len(block) == 1:
            query = queries[block[0]]
            kind = (query.kind(), part)
            known.setdefault(kind, calibrate_query(query, part, query.family))
            mechanisms[block[0]] = known[kind]
            continue
        deltas = tuple(queries[place].sensitivity for place in block)
        integers = tuple(queries[place].integer for place in block)
        pure = Privacy(part.epsilon)
        noise = find_joint(pure, deltas, integers, exponent=min(exponent, 2))
        joint = JointMechanism(pure, deltas, integers, noise, queries[block[0]].objective)
        mechanisms |= dict(zip(block, joint.parts, strict=True))
    return tuple(mechanisms[place] for place in range(len(queries)))


def _find_blocks(problem: PlanProblem) -> list[Block]:
    """Return the blocks of about the lowest cost; reject a plan for which joint noise is useless.

    Dynamic programming over the places where a block may end.
    """
    queries, exponent = problem.queries, _find_exponent(problem)
    forced = [place for place, query in enumerate(queries) if query.family is not None]
    free = [place for place, query in enumerate(queries) if query.family is None]
    free.sort(key=lambda place: _size(problem, queries[place], exponent))
    ends = _find_ends([_size(problem, queries[place], exponent) for place in free])
    # For each end: the lowest sum of the roots of A up to there, and where its last block begins.
    best: dict[int, tuple[float, int]] = {0: (0.0, 0)}
    for end in ends:
        options = []
        for start, (total, _) in best.items():
            if end - start <= _MOST_NUMBERS:
                own = _weigh(problem, tuple(free[start:end]), exponent) ** (1 / (exponent + 1))
                options.append((total + own, start))
        best[end] = min(options)
    blocks: list[Block] = [(place,) for place in forced]
    end = len(free)
    while end:
        start = best[end][1]
        blocks.append(tuple(sorted(free[start:end])))
        end = start
    if all(len(block) == 1 for block in blocks):
        raise InvalidParameter("no answers gain from joint noise", fix="Use a split.")
    return blocks


def _check_worth(problem: PlanProblem, blocks: Sequence[Block], known: Fraction | None) -> None:
    """Reject joint noise that costs far more than another option.

    The estimate is right only where the noise is wide: where ε is small for so many answers.
    """
    many = len(problem.queries)
    if known is None or problem.only_targets or problem.privacy.epsilon > Fraction(many, _WIDE):
        return
    exponent = _find_exponent(problem)
    roots = [_weigh(problem, block, exponent) ** (1 / (exponent + 1)) for block in blocks]
    cost = sum(roots) ** (exponent + 1) / as_float(problem.privacy.epsilon) ** exponent
    if cost > _FAR * as_float(known):
        raise InvalidParameter(
            "joint noise costs far more for so many answers", fix="Use Gaussian."
        )


def _find_ends(sizes: Sequence[float]) -> list[int]:
    """Return the places where a block may end: between different sizes, and not too many."""
    ends = [i for i in range(1, len(sizes)) if sizes[i] != sizes[i - 1]]
    if len(ends) > _MOST_ENDS:
        ends = [ends[i * len(ends) // _MOST_ENDS] for i in range(_MOST_ENDS)]
    # No block may be too long, also among equal answers.
    ends += range(_MOST_NUMBERS, len(sizes), _MOST_NUMBERS)
    return sorted({*ends, *([len(sizes)] if sizes else [])})


def _find_exponent(problem: PlanProblem) -> int:
    """Return the p of the cost |x|ᵖ of all answers, or reject other costs."""
    if problem.only_targets:
        return 1
    costs = {query.cost for query in problem.queries if query.cost is not None}
    (cost, *others) = costs
    if others or not isinstance(cost, Power) or cost.p.denominator != 1:
        raise InvalidParameter(
            "joint noise is found for one cost |x|ᵖ of all answers, p an integer",
            fix="Use l1 or l2 for all answers.",
        )
    if cost.p > _LARGEST_POWER:
        raise InvalidParameter(
            f"joint noise is found for |x|ᵖ up to p = {_LARGEST_POWER}", fix="Use l1 or l2."
        )
    return int(cost.p)


def _size(problem: PlanProblem, query: NumericQuery, exponent: int) -> float:
    """Return wΔᵖ, or Δ/error if there are only targets."""
    if problem.only_targets:
        return as_float(query.sensitivity / (query.error or Fraction(1)))
    weight = query.weight if query.cost is not None else Fraction(0)
    return as_float(weight * query.sensitivity**exponent)


def _weigh(problem: PlanProblem, block: Block, exponent: int) -> float:
    """Return the A of a block; for targets, such that its root is proportional to the part of ε."""
    queries, j, p = [problem.queries[place] for place in block], len(block), exponent
    if problem.only_targets:
        widths = {level: _find_width(j, level) for level in {query.confidence for query in queries}}
        return max(widths[query.confidence] * _size(problem, query, p) for query in queries) ** 2
    factor = (j + p) / ((p + 1) * j) * math.exp(math.lgamma(j + p) - math.lgamma(j))
    return factor * sum(_size(problem, query, p) for query in queries)


def _find_width(numbers: int, confidence: Fraction) -> float:
    """Return about the t with ε|Xᵢ| ≤ tΔᵢ at a confidence; see the module."""
    allowed = as_float(1 - confidence)

    def tail(t: float) -> float:
        terms = [i * math.log(t) - t - math.lgamma(i + 1) for i in range(numbers + 1)]
        below = sum(math.exp(term) for term in terms[:-1])
        return below + math.exp(terms[-1]) - t / numbers * below

    low, high = 0.0, 1.0
    while tail(high) > allowed:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > allowed else (low, middle)
    return high
