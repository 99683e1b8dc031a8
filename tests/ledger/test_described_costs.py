"""Charges that contradict their own noise: neither written nor verified."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import leastnoise
from leastnoise.core.exact import format_ratio
from leastnoise.core.gaussian_cost import GaussianCost, cost_of_guarantee
from leastnoise.errors import InvalidParameter, LedgerDamaged
from leastnoise.ledger import Ledger, Spending
from leastnoise.ledger.rows import Row, compute_digest, mechanism_key
from leastnoise.ledger.selection_costs import selections_exceed
from leastnoise.mechanism import calibrate_pair, calibrate_vector
from leastnoise.planning import build_gaussian
from tests.support.forged_ledgers import forged, says

ln: Any = leastnoise
P = ln.Privacy
LIMIT = P(1, "1e-6")
FRAME = pd.DataFrame({"who": range(60), "g": ["north", "south"] * 30, "v": [1.0, 2.0] * 30})
GROUPS = ["north", "south"]

gaussian = partial(ln.calibrate, P("0.06", "1e-6"), family="gaussian")
small = partial(ln.calibrate, P("0.02"), sensitivity=1)


def people(ledger: Any, **options: Any) -> Any:
    return ln.protect(FRAME, unit="who", max_rows=1, ledger=ledger, name="people", **options)


def plan() -> Any:
    queries = [ln.NumericQuery(f"{number}", sensitivity=1, integer=True) for number in range(80)]
    return ln.plan(P("0.2", "1e-7"), queries, solve=False)


# Each release, and the part of its μ² below which the row contradicts itself for certain.
RELEASES: dict[str, tuple[Callable[[Any], object], str]] = {
    "Gaussian integer": (
        lambda to: gaussian(sensitivity=3, integer=True).release(7, ledger=to),
        "0.999999",
    ),
    "Gaussian number": (lambda to: gaussian(sensitivity=2).release(7, ledger=to), "0.999999"),
    "Gaussian array": (
        lambda to: gaussian(sensitivity=2).release(np.arange(4.0), ledger=to, contributions=3),
        "0.999999",
    ),
    "vector": (
        lambda to: calibrate_vector(P("0.1", "1e-7"), sensitivity=1, dimension=9).release(
            np.arange(9.0), ledger=to
        ),
        "0.999999",
    ),
    "shared plan": (
        lambda to: plan().release({f"{number}": 1 for number in range(80)}, ledger=to),
        "0.999999",
    ),
    "listed groups": (
        lambda to: people(to).count(by="g", groups=GROUPS, max_groups=2, share="1/9"),
        "0.9999",
    ),
    "replaced units": (
        lambda to: people(to, neighbors="replace").count(
            by="g", groups=GROUPS, max_groups=2, share="1/9"
        ),
        "0.9999",
    ),
    "discovered groups": (
        lambda to: people(to).count(by="g", max_groups=2, share="1/9"),
        "0.999",
    ),
    "several answers": (
        lambda to: people(to).ask(
            [ln.Count(), ln.Sum("v", bounds=(0, 5)), ln.Count()], share="1/9"
        ),
        "0.9999",
    ),
    "mean": (lambda to: people(to).mean("v", bounds=(0, 5), share="1/9"), "0.9999"),
    "canonical": (
        lambda to: ln.calibrate(P("0.02", "1e-9"), sensitivity=1, integer=True).release(
            7, ledger=to
        ),
        "0.98",
    ),
    "staircase": (lambda to: small().release(7, ledger=to), "0.98"),
    "Laplace": (lambda to: small(family="laplace").release(7, ledger=to), "0.98"),
    "truncated Laplace": (
        lambda to: ln.calibrate(
            P("0.02", "1e-9"), sensitivity=1, family="truncated_laplace"
        ).release(7, ledger=to),
        "0.98",
    ),
    "pair": (
        lambda to: calibrate_pair(P("0.02"), sensitivity=1).release((1, 2), ledger=to),
        "0.999999",
    ),
    "median": (lambda to: people(to).median("v", bounds=(0, 10), share="1/9"), "0.9999"),
    # One of the four selections alone would need a quarter.
    "four selections": (
        lambda to: people(to).ask(
            [
                ln.Quantile("v", q, bounds=(0, 10), by="g", groups=GROUPS, max_groups=2)
                for q in (0.25, 0.75)
            ],
            share="1/9",
        ),
        "0.5",
    ),
}


def spent(rows: list[Row]) -> int:
    """Return the place of the spend, of which there is one."""
    (place,) = (place for place, row in enumerate(rows) if row.kind == "spend")
    return place


def verify(path: Path) -> None:
    with ln.Ledger(path) as ledger:
        ledger.verify()


def forge(path: Path, rows: list[Row], **fields: Any) -> Path:
    """Return a copy of a ledger whose spend states something else."""
    place = spent(rows)
    return forged(
        path, path.parent, [*rows[:place], says(rows[place], **fields), *rows[place + 1 :]]
    )


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    with ln.Ledger(tmp_path / "a.ledger", limit=LIMIT, accounting="gaussian") as found:
        yield found


@pytest.mark.parametrize(("release", "part"), RELEASES.values(), ids=RELEASES)
def test_a_cost_below_that_of_the_noise_is_not_verified(
    ledger: Any, release: Callable[[Any], object], part: str
) -> None:
    release(ledger)
    ledger.verify()
    rows, path = list(ledger.rows()), Path(ledger.where)
    ledger.close()
    content: Any = rows[spent(rows)].content
    square = Fraction(content["square"])
    verify(forge(path, rows, square=format_ratio(square * Fraction("1.01"))))  # the control
    for less in (square * Fraction(part), Fraction(1, 10**9)):
        at = forge(path, rows, square=format_ratio(less))
        with pytest.raises(LedgerDamaged, match="no ledger writes"):
            verify(at)


# The ends of noise that discovers groups are integers, so it has a little less γ than is charged.
@pytest.mark.parametrize(
    ("name", "part"),
    [("discovered groups", "0.7"), ("canonical", "0.98"), ("truncated Laplace", "0.98")],
)
def test_a_failure_below_that_of_the_noise_is_not_verified(
    ledger: Any, name: str, part: str
) -> None:
    RELEASES[name][0](ledger)
    rows, path = list(ledger.rows()), Path(ledger.where)
    ledger.close()
    content: Any = rows[spent(rows)].content
    failure = Fraction(content["failure"])
    assert failure
    verify(forge(path, rows, failure=format_ratio(failure * Fraction("1.01"))))
    for less in (failure * Fraction(part), Fraction(0)):
        at = forge(path, rows, failure=format_ratio(less))
        with pytest.raises(LedgerDamaged, match="no ledger writes"):
            verify(at)


def reject(ledger: Ledger, spending: Spending) -> None:
    before = ledger.head
    with pytest.raises(InvalidParameter, match="needs a larger guarantee or cost"):
        ledger.charge(spending, key="cheat")
    assert ledger.head == before


def test_a_cost_below_that_of_the_noise_is_not_charged(ledger: Any) -> None:
    """Gaussian noise at (5, 1e-7) in a limit of (1, 1e-6), at almost no cost."""
    mechanism = ln.calibrate(P(5, "1e-7"), sensitivity=1, integer=True, family="gaussian")
    honest = mechanism.spending()
    for cost in (
        GaussianCost(Fraction(1, 10**9)),
        GaussianCost(Fraction(1, 10**9), P(0, "1e-7").delta),
    ):
        reject(ledger, replace(honest, find_costs=lambda cost=cost: (cost,)))
    # Nor under a guarantee that the noise does not have.
    reject(ledger, replace(honest, privacy=P("0.001", "1e-9")))
    narrow = gaussian(sensitivity=1, integer=True)
    narrow.release(7, ledger=ledger, key="honest")  # its description is known from here on
    least = narrow.gaussian_cost.square * Fraction("0.999999")
    reject(ledger, replace(narrow.spending(), find_costs=lambda: (GaussianCost(least),)))
    ledger.charge(narrow.spending(), key="cheat")
    ledger.verify()


def count_at_places(ledger: Any, questions: list[Any], noise: list[Any], **more: Any) -> Spending:
    """Return a charge of counts; their noise costs 1/100 of the caps, or all of them."""
    caps = ledger.allocations[0].caps.square
    cheap, dear = (
        build_gaussian(
            GaussianCost(caps * part), sensitivity=Fraction(1), integer=True, delta=LIMIT.delta
        ).spending()
        for part in (Fraction(1, 100), Fraction(1))
    )
    digests = {"cheap": next(iter(cheap.mechanisms)), "dear": next(iter(dear.mechanisms))}
    query = {
        "answer": "tables",
        "source": "x",
        "name": "p",
        "unit": "id",
        "max_rows": 1,
        "neighbours": "add_remove",
        "questions": [{"ask": "count", **question} for question in questions],
        "noise": [[digests[one]] for one in noise],
        **more,
    }
    both = {"cheap": cheap.mechanisms, "dear": dear.mechanisms}
    described = {digest: own for name in noise for digest, own in both[name].items()}
    cost = GaussianCost(caps / 50)
    return Spending(P(1, "1e-6"), described, query, find_costs=lambda: (cost,))


GROUPED = {"by": ["g"], "max_groups": 2}


@pytest.mark.parametrize(
    ("questions", "noise", "more"),
    [
        *(
            pytest.param([{"by": ["g"], "max_groups": most}], ["cheap"], {}, id=f"{most!r} groups")
            for most in (0, -3, 1e-9, False, True, "1", None, 3)
        ),
        ([GROUPED, {"by": ["g"], "max_groups": -2}], ["cheap", "dear"], {}),
        ([{}, {}], ["dear", "cheap"], {"numbers": [[0], [0]]}),
        ([{}, {}], ["cheap", "cheap"], {"numbers": [[0], [-1]]}),
        ([{}, {}], ["cheap", "cheap"], {"numbers": [[0], [2]]}),
        ([{}, {}], ["cheap", "cheap"], {"numbers": [[1], [1]]}),
        ([{}, {}], ["cheap", "cheap"], {"numbers": [[0], [False]]}),
        ([{}, {}], ["cheap", "cheap"], {"numbers": [[0], ["1"]]}),
        ([{"by": ["g"], "max_groups": 3}, {}], ["cheap", "cheap"], {"numbers": [[0], [0]]}),
    ],
)
def test_a_query_does_not_hide_how_many_numbers_it_changes(
    ledger: Any, questions: list[Any], noise: list[Any], more: Any
) -> None:
    ledger.charge(count_at_places(ledger, [GROUPED], ["cheap"]), key="honest")
    shared = count_at_places(ledger, [GROUPED] * 2, ["cheap"] * 2, numbers=[[0], [0]])
    ledger.charge(shared, key="also honest")
    rows, path = list(ledger.rows()), Path(ledger.where)
    cheat = count_at_places(ledger, questions, noise, **more)
    before = ledger.head
    with pytest.raises(InvalidParameter, match="Nothing was charged"):
        ledger.charge(cheat, key="cheat")
    assert ledger.head == before
    ledger.close()
    if "dear" not in noise:  # all noise is described in this ledger
        place = [place for place, row in enumerate(rows) if row.kind == "spend"][-1]
        changed = says(rows[place], asked=cheat.asked)
        with pytest.raises(LedgerDamaged, match="no ledger writes"):
            verify(forged(path, path.parent, [*rows[:place], changed, *rows[place + 1 :]]))


@pytest.mark.parametrize(
    "selections",
    [{"1/10": 2}, {"1/10": 7}, {"3": 4}, {"1/100": 5, "1/20": 4}, {"1/7": 1, "1/3": 2, "2": 3}],
)
def test_several_selections_need_what_randomized_responses_need(
    selections: dict[str, int],
) -> None:
    """Their total variation distance, by all outcomes, at which a cost without μ suffices."""
    epsilons = [Fraction(epsilon) for epsilon, number in selections.items() for _ in range(number)]
    with mpmath.workdps(50):
        odds = [mpmath.exp(mpmath.mpf(e.numerator) / e.denominator) for e in epsilons]
        distance = mpmath.mpf(0)
        for right in product((True, False), repeat=len(odds)):
            near, far = (
                mpmath.fprod((e if is_right == mine else 1) / (1 + e) for e, is_right in pairs)
                for mine in (True, False)
                for pairs in [list(zip(odds, right, strict=True))]
            )
            distance += abs(near - far) / 2
        limit = Fraction(int(distance * 10**40), 10**40)
    counted = {Fraction(epsilon): number for epsilon, number in selections.items()}
    tiny = Fraction(1, 10**20)
    assert selections_exceed(counted, Fraction(0), limit - tiny)
    assert not selections_exceed(counted, Fraction(0), limit + tiny)


@pytest.mark.parametrize("epsilon", ["1/1000", "1/10", "1", "400"])
@pytest.mark.parametrize("number", [2, 3, 40, 10**6])
def test_valid_costs_of_several_selections_are_accepted(epsilon: str, number: int) -> None:
    each = cost_of_guarantee(P(epsilon)).square
    selections = {Fraction(epsilon): number}
    assert not selections_exceed(selections, number * each, Fraction(0))
    if Fraction(epsilon) <= 1:
        assert selections_exceed(selections, each, Fraction(0))


def test_a_selection_may_cost_what_its_guarantee_with_delta_costs(tmp_path: Path) -> None:
    """(μ(ε)², δ) of the whole query is valid for its selections, whose own ε is larger."""
    whole = P("0.5", "0.9")
    with ln.Ledger(tmp_path / "a.ledger", limit=whole) as ledger:
        part = ledger.allocate("x", whole, discovery="0.99")
        table = ln.protect(
            pa.table({"id": [1, 2], "h": [1, 2], "g": ["a", "b"]}),
            unit="id",
            max_rows=1,
            ledger=part,
            name="p",
        )
        few = {"bounds": (0, 80), "bins": 8, "by": "g", "groups": ["a", "b"], "max_groups": 2}
        table.quantile("h", 0.5, privacy=P("0.1", "0.4"), **few)
        ledger.verify()
        spent_now = part.allocations[0].spent
        assert spent_now.failure == P(0, "0.4").delta
        rows, path = list(ledger.rows()), Path(ledger.where)
    for failure in ("1/1000", "1/100"):
        with pytest.raises(LedgerDamaged, match="no ledger writes"):
            verify(forge(path, rows, failure=failure))


def test_a_description_does_not_hide_behind_the_digest_of_another(ledger: Any) -> None:
    wide, narrow = (
        ln.calibrate(P(epsilon, "1e-7"), sensitivity=1, integer=True, family="gaussian").spending()
        for epsilon in ("0.01", 5)
    )
    wide_cost = GaussianCost(Fraction(1, 10**5))
    ((_, description),), ((digest, _),) = wide.mechanisms.items(), narrow.mechanisms.items()
    swapped = replace(wide, mechanisms={digest: description}, find_costs=lambda: (wide_cost,))
    reject(ledger, swapped)


def test_a_guarantee_below_that_of_the_noise_is_neither_charged_nor_verified(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.ledger"
    mechanism = ln.calibrate(P("0.06", "1e-7"), sensitivity=1, family="gaussian")
    with ln.Ledger(path, limit=LIMIT) as ledger:
        reject(ledger, replace(mechanism.spending(), privacy=P("0.06", "9e-8")))
        mechanism.release(np.arange(3.0), ledger=ledger, contributions=2, key="a")
        rows = list(ledger.rows())
    (place,) = (place for place, row in enumerate(rows) if row.kind == "charge")
    for epsilon, verified in (("3/25", True), ("13/100", True), ("11/100", False)):
        changed = [*rows[:place], says(rows[place], epsilon=epsilon), *rows[place + 1 :]]
        at = forged(path, tmp_path, changed)
        if verified:
            verify(at)
        else:
            with pytest.raises(LedgerDamaged, match="no ledger writes"):
                verify(at)


def understate(honest: Spending, **privacy: str) -> Spending:
    """Return a charge whose description of its mechanism states another guarantee."""
    description: Any = next(iter(honest.mechanisms.values()))
    changed = {**description, "privacy": {**description["privacy"], **privacy}}
    stated = P(*map(Fraction, changed["privacy"].values()))
    return Spending(stated, {compute_digest(changed): changed}, honest.asked)


@pytest.mark.parametrize(
    ("spending", "less", "same"),
    [
        (lambda: small(integer=True).spending(), {"epsilon": "19/1000"}, {"delta": "1/10"}),
        (
            lambda: small(family="laplace").spending(),
            {"epsilon": "19/1000"},
            {"epsilon": "21/1000"},
        ),
        (
            lambda: gaussian(sensitivity=3, integer=True).spending(),
            {"delta": "98/100000000"},
            {"epsilon": "1"},
        ),
        (
            lambda: gaussian(sensitivity=2).spending(),
            {"epsilon": "59/1000"},
            {"epsilon": "61/1000"},
        ),
        (
            lambda: calibrate_vector(P("0.1", "1e-7"), sensitivity=1, dimension=9).spending([9]),
            {"delta": "98/1000000000"},
            {"delta": "101/1000000000"},
        ),
        (
            lambda: ln.calibrate(P("0.02", "1e-9"), sensitivity=1, integer=True).spending(),
            {"delta": "98/100000000000"},
            {"delta": "101/100000000000"},
        ),
    ],
)
def test_a_description_does_not_state_less_than_its_noise_needs(
    tmp_path: Path, spending: Callable[[], Spending], less: dict[str, str], same: dict[str, str]
) -> None:
    path, made = tmp_path / "a.ledger", spending()
    with ln.Ledger(path, limit=P(10, "1/2")) as ledger:
        ledger.charge(understate(made), key="honest")
        ledger.charge(understate(made, **same), key="more")
        reject(ledger, understate(made, **less))
        ledger.verify()
        rows = list(ledger.rows())
    ((digest, description),) = understate(made, **less).mechanisms.items()
    place = [place for place, row in enumerate(rows) if row.kind == "mechanism"][-1]
    changed = says(rows[place], **description)._replace(key=mechanism_key(digest))
    charge = says(rows[-1], mechanisms=[digest])
    assert rows[-1].kind == "charge"
    with pytest.raises(LedgerDamaged, match="no ledger writes"):
        verify(forged(path, tmp_path, [*rows[:place], changed, *rows[place + 1 : -1], charge]))


def test_a_query_of_a_program_s_own_contradicts_nothing(ledger: Any) -> None:
    """The row does not say how it uses its noise, such as on a random sample of the rows."""
    own = ln.calibrate(P(5, "1e-7"), sensitivity=1, integer=True, family="gaussian").spending()
    cost = GaussianCost(Fraction(1, 1000))
    ledger.charge(Spending(P(5), own.mechanisms, {"query": "sampled"}, find_costs=lambda: (cost,)))
    ledger.verify()


def test_a_spend_of_an_analyst_whose_limit_was_not_charged_is_not_verified(tmp_path: Path) -> None:
    path, part = tmp_path / "a.ledger", P("0.5", "5e-7")
    with ln.Ledger(path, limit=LIMIT) as ledger:
        gaussian(sensitivity=1, integer=True).release(7, ledger=ledger.allocate("all", part))
    with ln.Ledger(path, analyst="bob", analyst_limit=P("0.1", "1e-7")) as bob:
        bob.verify()
        rows = list(bob.rows())
    place = spent(rows)
    limit, spend = rows[-1], rows[place]
    assert limit.kind == "limit"
    others = [row for row in rows if row not in (limit, spend)]
    of_bob, answers = says(spend, analyst="bob"), [row for row in others if row.kind == "answer"]
    before = [row for row in others if row.kind != "answer"]

    def ledger_of(*more: Row) -> Path:
        return forged(path, tmp_path, [*before, *more])

    answer = says(answers[0], charge=len(before) + 2)
    verify(ledger_of(limit, says(spend, analyst="ann"), answer))  # ann has no limit
    verify(ledger_of(of_bob, says(answer, charge=len(before) + 1), limit))  # bob had none yet
    with pytest.raises(LedgerDamaged, match="no ledger writes"):
        verify(ledger_of(limit, of_bob, answer))
