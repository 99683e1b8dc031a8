"""Allocations: parts of a limit with Gaussian accounting, on both stores."""

import json
import shutil
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import leastnoise
from leastnoise.cli import main
from leastnoise.core.gaussian_cost import (
    NOTHING,
    GaussianCost,
    cost_of_guarantee,
    find_caps,
    total_cost,
)
from leastnoise.errors import BudgetExceeded, InvalidParameter, LedgerDamaged
from leastnoise.ledger import Accounts, AllocatedPrivacy, Ledger, Spending
from leastnoise.ledger.sums import LONGEST_SUM
from leastnoise.mechanism import calibrate_pair, find_blocks
from leastnoise.plots import budget
from leastnoise.plots.spending import read_histories
from tests.support import ledger_files
from tests.support.ledger_files import described, kinds, quick_folder

ln: Any = leastnoise
counting: Any = ledger_files.counting
P = ln.Privacy
LIMIT = P(1, "1e-6")
PART = P("0.8", "9e-7")
GOLDEN = Path(__file__).parents[1] / "golden" / "0.5.0.ledger"
ZERO = Fraction(0)


def costing(square: Any, failure: Any = 0, *, privacy: Any = None, query: Any = None) -> Spending:
    """Return a charge with a cost of its own; its guarantee alone would cost more than any cap."""
    cost = GaussianCost(Fraction(square), Fraction(failure))
    return Spending(privacy or P(50), described(), query or {}, find_costs=lambda: (cost,))


@pytest.fixture
def ledger(place: str) -> Iterator[Any]:
    with ln.Ledger(place, limit=LIMIT) as found:
        yield found


# ------------------------------------------------------------------------------ made once


def test_an_allocation_is_one_charge_of_its_guarantee(ledger: Any) -> None:
    survey = ledger.allocate("survey 2026", PART)
    assert ledger.spent == PART
    assert ledger.remaining == P("0.2", "1e-7")
    assert (survey.name, survey.limit, survey.accounting) == ("survey 2026", PART, "gaussian")
    assert kinds(ledger) == ["opened", "limit", "allocation"]
    assert [row.version for row in ledger.rows()] == [1, 1, 2]
    counting().release(7, ledger=survey, key="a")
    assert ledger.spent == PART  # nothing more
    counting().release(7, ledger=ledger, key="b")
    assert ledger.spent == P("0.9", "9e-7")


def test_the_caps_imply_the_guarantee_and_are_nearly_the_largest(ledger: Any) -> None:
    for part in ("0", "1/10", "1/2"):
        caps = ledger.allocate(f"with {part}", P("0.3", "3e-7"), discovery=part).caps
        assert caps.failure == Fraction(3, 10**7) * Fraction(part)
        assert caps.delta(Fraction(3, 10)) <= Fraction(3, 10**7)
        larger = GaussianCost(caps.square * Fraction(1000001, 1000000), caps.failure)
        assert larger.delta(Fraction(3, 10)) > Fraction(3, 10**7)


def test_it_is_opened_again_by_its_name_from_anywhere(place: str) -> None:
    with ln.Ledger(place, limit=LIMIT) as ledger:
        counting().release(7, ledger=ledger.allocate("survey", PART, discovery="1/5"), key="a")
    with ln.Ledger(place, analyst="ann") as ledger:
        before = ledger.head
        for survey in (ledger.allocate("survey", PART), ledger.allocation("survey")):
            assert survey.spent.cost == counting().gaussian_cost
            assert counting().release(7, ledger=survey, key="a").receipt.reused
        assert ledger.head == before
        assert ledger.allocate("survey", PART, discovery="1/5").caps.failure == PART.delta / 5


def reject(
    call: Callable[[], object], match: str, ledger: Any, kind: Any = InvalidParameter
) -> None:
    """Check that a call is rejected, and that nothing was written."""
    before = ledger.head
    with pytest.raises(kind, match=match):
        call()
    assert ledger.head == before


def test_another_guarantee_under_the_same_name_is_rejected(ledger: Any) -> None:
    ledger.allocate("survey", PART)
    said = r"exists with ε = 0.8, δ = 9e-7, not ε = 0.1, δ = 9e-7. Nothing was charged"
    reject(lambda: ledger.allocate("survey", P("0.1", "9e-7")), said, ledger)
    said = r"exists with discovery = 0.1, not 0.5"
    reject(lambda: ledger.allocate("survey", PART, discovery="0.5"), said, ledger)


@pytest.mark.parametrize(
    ("name", "privacy", "discovery", "match"),
    [
        ("", PART, None, "name must be a string"),
        ("x\x1fy", PART, None, "name must be a string"),
        (7, PART, None, "name must be a string"),
        ("default", PART, None, "'default' is reserved"),
        ("survey", P("0.1"), None, "An allocation needs δ > 0"),
        ("survey", 0.8, None, "privacy must be a Privacy"),
        ("survey", PART, 1, "discovery must be at least 0 and less than 1"),
        ("survey", PART, "-0.1", "discovery must be at least 0 and less than 1"),
        ("survey", PART, "much", "discovery must be"),
        ("survey", P(10**7, "1e-9"), None, "ε of an allocation must be at most"),
        ("survey", P(Fraction(1, 3**2000), "1e-9"), None, "ε of an allocation must be at most"),
    ],
)
def test_arguments_that_cannot_be_are_rejected(
    tmp_path: Path, name: Any, privacy: Any, discovery: Any, match: str
) -> None:
    with ln.Ledger(tmp_path / "a.ledger", limit=LIMIT) as ledger:
        reject(lambda: ledger.allocate(name, privacy, discovery=discovery), match, ledger)


def test_an_allocation_beyond_a_limit_is_rejected(place: str) -> None:
    ln.Ledger(place, limit=LIMIT, analyst="ann", analyst_limit=P("0.5", "1e-7")).close()
    with ln.Ledger(place, analyst="ann") as ledger:
        said = "this allocation needs ε = 0.8, δ = 9e-7; ε = 0.5, δ = 1e-7 remain"
        reject(lambda: ledger.allocate("survey", PART), said, ledger, BudgetExceeded)
        own = ledger.allocate("own", P("0.5", "1e-7"))
        assert ledger.analyst_account.remaining == P(0, 0)
        # What is released from it is charged to nobody.
        small = ln.calibrate(P("0.01"), sensitivity=1, integer=True)
        small.release(7, ledger=own)
        assert ledger.analyst_account.spent == P("0.5", "1e-7")
        assert [one.name for one in ledger.analyst_account.allocations] == ["own"]
    with ln.Ledger(place, analyst="ben") as ledger:
        small.release(7, ledger=ledger.allocation("own"))
        assert not ledger.analyst_account.spent.epsilon
        ledger.verify()


def test_an_unknown_name_is_rejected_with_the_nearest(ledger: Any) -> None:
    reject(lambda: ledger.allocation("survey"), r"has no allocation 'survey'.*allocate", ledger)
    ledger.allocate("survey 2026", P("0.1", "1e-8"))
    reject(lambda: ledger.allocation("survy 2026"), r"Did you mean 'survey 2026'\?", ledger)
    reject(lambda: ledger.allocation("zzz"), r"Use one of 'survey 2026'", ledger)
    reject(lambda: ledger.allocation(None), r"name must be a string", ledger)


def test_datasets_have_their_own_allocations(place: str) -> None:
    with ln.Ledger(place, limit=LIMIT, dataset="one") as one:
        one.allocate("survey", PART)
    with ln.Ledger(place, limit=LIMIT, dataset="two") as two:
        reject(lambda: two.allocation("survey"), "has no allocation", two)
        survey = two.allocate("survey", P("0.1", "1e-7"))
        two.charge(Spending(P("0.1"), described(), {}))
        survey.charge(costing(survey.caps.square))
    with ln.Ledger(place, dataset="one") as one:
        assert one.allocation("survey").spent.cost == NOTHING
        assert [account.dataset for account in one.accounts] == ["one", "two"]
        one.verify()


def test_the_limit_of_an_allocation_is_fixed(ledger: Any) -> None:
    survey = ledger.allocate("survey", PART)
    caps = survey.caps
    reject(lambda: survey.set_limit(P(2)), "limit of allocation 'survey' is fixed", ledger)
    ledger.set_limit(P(2, "1e-5"))
    assert survey.caps == caps
    ledger.set_limit(P("0.1"))
    assert survey.caps == caps
    counting().release(7, ledger=survey)  # what was moved stays
    ledger.verify()


# ------------------------------------------------------------------------------ costs


def test_costs_are_added_exactly_up_to_the_caps(ledger: Any) -> None:
    survey = ledger.allocate("survey", PART)
    square, failure = survey.caps.square, survey.caps.failure
    for _ in range(3):
        survey.charge(costing(square / 3, failure / 3))
    assert survey.remaining.share == 0
    assert survey.remaining == AllocatedPrivacy(NOTHING, survey.caps, PART, ZERO)
    assert survey.spent.share == 1
    assert (survey.remaining.epsilon, survey.remaining.delta) == (0, 0)
    survey.charge(costing(0, 0))
    for more in (costing(Fraction(1, 10**30)), costing(0, Fraction(1, 10**30))):
        reject(partial(survey.charge, more), "Not enough", ledger, BudgetExceeded)
    ledger.verify()


def test_long_sums_are_rounded_up_and_verified(ledger: Any) -> None:
    """Costs with unlike denominators fill the caps: an audit that rounded up would reject them."""
    survey = ledger.allocate("survey", PART)
    for number in range(40):
        survey.charge(costing(Fraction(1, 2**70 + 2 * number + 1)))
    exact = sum((Fraction(1, 2**70 + 2 * number + 1) for number in range(40)), ZERO)
    spent = survey.spent.cost.square
    assert exact < spent < exact + Fraction(40, 2**LONGEST_SUM)
    survey.charge(costing(survey.remaining.cost.square))
    assert not survey.remaining.cost.square
    ledger.verify()


def test_the_cheapest_valid_cost_is_charged(ledger: Any) -> None:
    survey = ledger.allocate("survey", PART)
    cap = survey.caps.square
    costs = (GaussianCost(cap / 2), GaussianCost(cap / 4), GaussianCost(cap / 8, PART.delta))
    survey.charge(Spending(P(50), described(), {}, find_costs=lambda: costs))
    assert survey.spent.cost == costs[1]  # the last has the least μ², and too much γ
    survey.charge(Spending(P("0.01"), described(), {}, find_costs=lambda: costs))
    assert survey.spent.cost == costs[1] + cost_of_guarantee(P("0.01"))
    negative = (GaussianCost(-cap),)
    spending = Spending(P(50), described(), {}, find_costs=lambda: negative)
    reject(lambda: survey.charge(spending), "must not be negative", ledger)


def test_costs_are_not_computed_for_a_plain_charge(ledger: Any) -> None:
    def never() -> tuple[GaussianCost, ...]:
        raise AssertionError

    ledger.charge(Spending(P("0.1"), described(), {}, find_costs=never))
    assert ledger.spent == P("0.1")


QUERIES = [ln.NumericQuery(name, sensitivity=1, integer=True) for name in "abc"]
MANY = [ln.NumericQuery(f"{number}", sensitivity=1, integer=True) for number in range(60)]


def test_what_each_kind_of_release_costs(ledger: Any) -> None:
    survey = ledger.allocate("survey", PART)
    own = ln.calibrate(P("0.01", "1e-9"), sensitivity=1, integer=True)
    gaussian = ln.calibrate(P("0.01", "1e-9"), sensitivity=1, family="gaussian")
    pair = calibrate_pair(P("0.01"), sensitivity=1)
    plan = ln.plan(P("0.03"), QUERIES, solve=False)
    shared = ln.plan(P("0.3", "1e-8"), MANY, solve=False)
    assert shared.family == "gaussian"
    releases: list[tuple[Callable[[], object], GaussianCost]] = [
        (lambda: own.release(7, ledger=survey), own.gaussian_cost),
        (lambda: gaussian.release(7, ledger=survey), gaussian.gaussian_cost),
        (lambda: own.release(np.arange(4), ledger=survey), own.gaussian_cost),
        (
            lambda: gaussian.release(np.arange(4.0), ledger=survey, contributions=3),
            gaussian.gaussian_cost * 3,
        ),
        (lambda: pair.release((1, 2), ledger=survey), cost_of_guarantee(P("0.01"))),
        (
            lambda: plan.release({"a": 1, "b": 2, "c": 3}, ledger=survey),
            total_cost(
                block.gaussian_cost for block, _ in find_blocks([*plan.mechanisms.values()])
            ),
        ),
        (
            lambda: shared.release({query.name: 1 for query in MANY}, ledger=survey),
            total_cost(one.gaussian_cost for one in shared.mechanisms.values()),
        ),
    ]
    for release, cost in releases:
        before = survey.spent.cost
        release()
        assert survey.spent.cost == before + cost
    assert not gaussian.gaussian_cost.failure
    # σ is 1/μ for a shift of one step more than Δ.
    assert gaussian.gaussian_cost.square == pytest.approx(
        float((gaussian.effective_sensitivity / gaussian.discretized.noise.noise.sigma) ** 2)
    )
    assert [one.cost for one in ledger.releases] == [cost for _, cost in releases]
    assert {one.allocation for one in ledger.releases} == {"survey"}


FRAME = pd.DataFrame({"who": range(60), "g": ["north", "south"] * 30, "v": [1.0, 2.0] * 30})


def test_what_table_queries_cost(ledger: Any) -> None:
    survey = ledger.allocate("survey", PART)
    people = ln.protect(FRAME, unit="who", max_rows=1, ledger=survey, name="people")
    counted = people.count(privacy=P("0.02"), by="g", groups=["north", "south"], max_groups=2)
    mechanism = counted["north"].mechanism
    assert survey.spent.cost == min(
        (mechanism.gaussian_cost * 2, cost_of_guarantee(P("0.02"))), key=lambda cost: cost.square
    )
    before = survey.spent.cost
    people.median("v", bounds=(0, 10), privacy=P("0.02"))
    assert survey.spent.cost == before + cost_of_guarantee(P("0.02"))
    before = survey.spent.cost
    found = people.count(
        privacy=P("0.05", "1e-9"), by="g", max_groups=1
    )  # discovered: bounded noise, γ > 0
    assert (survey.spent.cost.failure, survey.spent.cost.square > before.square) == (
        Fraction(1, 10**9),
        True,
    )
    assert "in allocation 'survey'" in str(found)
    before = ledger.head
    assert people.count(
        privacy=P("0.05", "1e-9"), by="g", max_groups=1
    ).receipt.reused  # the default key
    assert ledger.head == before
    ledger.verify()


def test_many_counts_fit_where_few_did() -> None:
    """A hundred Gaussian counts with σ = 50 are within (1, 1e-6); in a plain sum they are not."""
    with (
        quick_folder() as folder,
        ln.Ledger(Path(folder) / "a.ledger", limit=LIMIT, accounting="gaussian") as ledger,
    ):
        sigma = 50
        noise = ln.noise.Gaussian(sigma)
        mechanism = ln.Mechanism.from_noise(noise, P("0.1", "1e-6"), sensitivity=1)
        for number in range(100):
            mechanism.release(7, ledger=ledger, key=f"{number}")
        assert ledger.spent.cost.square == 100 * mechanism.gaussian_cost.square
        assert ledger.spent.cost.delta(Fraction(1)) <= Fraction(1, 10**6)
        ledger.verify()


def test_what_does_not_fit_is_rejected_with_what_would(ledger: Any) -> None:
    survey = ledger.allocate("survey", PART)
    large = ln.calibrate(P("0.2"), sensitivity=1, integer=True)
    said = (
        r"Not enough budget in allocation 'survey' of dataset 'data': this release needs 17\d\.\d% "
        r"of μ².*100% of μ² and 100% of γ remain\. Nothing was charged or released\. Releases with "
        r"ε up to 0\.15\d+ and δ = 0 fit, and Gaussian noise with σ ≥ 5\.25\d·Δ\. This release "
        r"fits into the budget outside the allocation"
    )
    reject(lambda: large.release(7, ledger=survey), said, ledger, BudgetExceeded)
    ledger.charge(Spending(P("0.2"), described(), {}))
    with pytest.raises(BudgetExceeded, match="Not enough") as caught:
        large.release(7, ledger=survey)
    assert "outside the allocation" not in str(caught.value)
    # What is said to fit does.
    words = str(caught.value)
    pure = Fraction(words.partition("ε up to ")[2].partition(" ")[0])
    sigma = Fraction(words.partition("σ ≥ ")[2].partition("·")[0])
    rest = survey.remaining.cost
    assert cost_of_guarantee(P(pure)).fits(rest)
    assert GaussianCost(1 / sigma**2).fits(rest)
    assert not cost_of_guarantee(P(pure * Fraction(1001, 1000))).fits(rest)
    bounded = ln.calibrate(P("0.01", "1e-7"), sensitivity=1, integer=True)
    said = r"and 111.2% of γ.*δ up to 9e-8 fits|and 111.2% of γ.*δ up to 0.00000009 fits"
    reject(lambda: bounded.release(7, ledger=survey), said, ledger, BudgetExceeded)


def test_without_a_part_for_discovery_there_is_no_failure(ledger: Any) -> None:
    survey = ledger.allocate("survey", PART, discovery=0)
    assert survey.remaining.share == 1
    bounded = ln.calibrate(P("0.01", "1e-9"), sensitivity=1, integer=True)
    said = "and γ > 0, of which it has none"
    reject(lambda: bounded.release(7, ledger=survey), said, ledger, BudgetExceeded)
    counting().release(7, ledger=survey)
    used = counting().gaussian_cost.square / survey.caps.square
    assert (survey.remaining.share, survey.spent.share) == (1 - used, used)


def test_the_neighbor_relation_is_that_of_the_dataset(ledger: Any) -> None:
    survey = ledger.allocate("survey", PART)
    tables = [
        ln.protect(FRAME, unit="who", max_rows=1, ledger=where, neighbors=relation, name="people")
        for where, relation in ((survey, "add_remove"), (survey, "replace"), (ledger, "replace"))
    ]
    tables[0].count(privacy=P("0.01"))
    for table in tables[1:]:
        said = "has the neighbor relation add-remove"
        reject(partial(table.count, privacy=P("0.01")), said, ledger)
    assert ledger.account.neighbors == "add_remove"
    assert [unit.column for unit in ledger.account.units] == ["who"]


# ------------------------------------------------------------------------------ keys


def test_a_key_is_charged_once_wherever_it_was_charged(ledger: Any) -> None:
    survey = ledger.allocate("survey", PART)
    first = counting().release(7, ledger=survey, key="a")
    plain = counting().release(7, ledger=ledger, key="a")
    assert (plain.value, plain.receipt.reused) == (first.value, True)
    assert plain.receipt.allocation.name == "survey"
    second = counting().release(7, ledger=ledger, key="b")
    inside = counting().release(7, ledger=survey, key="b")
    assert (inside.value, inside.receipt.reused) == (second.value, True)
    assert inside.receipt.allocation is None
    assert kinds(ledger).count("spend") == kinds(ledger).count("charge") == 1
    other = ln.calibrate(P("0.05"), sensitivity=1, integer=True)
    said = "The key 'a' was used with a different ε"
    reject(lambda: other.release(7, ledger=survey, key="a"), said, ledger)
    fresh = counting().release(7, ledger=survey, key="a", fresh=True)
    assert not fresh.receipt.reused
    assert survey.spent.cost == counting().gaussian_cost * 2


def test_a_receipt_has_the_account_of_its_allocation(ledger: Any) -> None:
    survey = ledger.allocate("survey", PART)
    receipt = counting().release(7, ledger=survey).receipt
    assert receipt.account.spent == PART
    assert receipt.allocation == ledger.allocations[0]
    assert receipt.allocation.spent == counting().gaussian_cost
    assert counting().release(7, ledger=ledger).receipt.allocation is None


# ------------------------------------------------------------------------------ whole limits


def test_gaussian_accounting_puts_the_whole_limit_into_one_allocation(place: str) -> None:
    with ln.Ledger(place, limit=LIMIT, accounting="gaussian") as ledger:
        assert kinds(ledger) == ["opened", "limit", "allocation"]
        assert ledger.account.remaining == P(0, 0)
        assert (ledger.remaining.share, ledger.remaining.epsilon) == (1, 1)
        counting().release(7, ledger=ledger)
    for options in ({}, {"accounting": "gaussian"}, {"limit": LIMIT}, {"analyst": "ann"}):
        with ln.Ledger(place, **options) as ledger:
            assert ledger.accounting == "gaussian"
            assert ledger.limit == LIMIT
            counting().release(7, ledger=ledger, key="a")
            assert ledger.spent.cost == counting().gaussian_cost * 2
            assert isinstance(ledger.remaining, leastnoise.Privacy)
            assert 0 < ledger.remaining.epsilon < 1
            ledger.verify()
    said = "has Gaussian accounting, which never changes. Its whole limit is in one allocation"
    with pytest.raises(InvalidParameter, match=said):
        ln.Ledger(place, accounting="basic")


def test_basic_accounting_stays_basic(place: str) -> None:
    ln.Ledger(place, limit=LIMIT).close()
    for options in ({}, {"limit": LIMIT}):
        with pytest.raises(InvalidParameter, match="has basic accounting, which never changes"):
            ln.Ledger(place, accounting="gaussian", **options)
    with ln.Ledger(place, accounting="basic") as ledger:
        assert ledger.accounting == "basic"
        assert kinds(ledger) == ["opened", "limit"]


def test_accounting_is_of_a_dataset(place: str) -> None:
    ln.Ledger(place, limit=LIMIT).close()
    with ln.Ledger(place, limit=LIMIT, dataset="other", accounting="gaussian") as ledger:
        assert ledger.accounting == "gaussian"
    with ln.Ledger(place) as ledger:
        assert ledger.accounting == "basic"
        ledger.verify()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"limit": LIMIT, "accounting": "renyi"}, "accounting must be 'basic' or 'gaussian'"),
        ({"limit": P(1), "accounting": "gaussian"}, "An allocation needs δ > 0"),
    ],
)
def test_accounting_that_cannot_be_creates_nothing(
    tmp_path: Path, options: Any, match: str
) -> None:
    with pytest.raises(InvalidParameter, match=match):
        ln.Ledger(tmp_path / "a.ledger", **options)
    assert not list(tmp_path.iterdir())


def test_a_higher_limit_is_used_by_a_further_allocation(place: str) -> None:
    with ln.Ledger(place, limit=LIMIT, accounting="gaussian") as ledger:
        caps = ledger.allocations[0].caps
        ledger.set_limit(P(2, "2e-6"))
        assert ledger.allocations[0].caps == caps == ledger.remaining.cost
        more = ledger.allocate("more", P(1, "1e-6"))
        assert more.caps == caps
        ledger.verify()


# ------------------------------------------------------------------------------ remaining


def test_the_rest_is_a_guarantee_with_extras(ledger: Any) -> None:
    survey = ledger.allocate("survey", PART)
    survey.charge(costing(survey.caps.square / 4, survey.caps.failure / 2))
    rest = survey.remaining
    assert rest.share == survey.spent.share == Fraction(1, 2)
    assert rest.cost == GaussianCost(survey.caps.square * 3 / 4, survey.caps.failure / 2)
    assert rest.rho == rest.cost.square / 2
    assert rest.mu**2 >= rest.cost.square
    assert rest.failure == rest.cost.failure
    assert rest.delta == PART.delta
    assert rest.cost.delta(rest.epsilon) <= rest.delta
    assert rest.cost.delta(rest.epsilon * Fraction(9999, 10000)) > rest.delta
    assert str(rest).startswith("75% of μ² and 50% of γ: μ = 0.16")
    assert repr(rest).startswith("AllocatedPrivacy(share=0.5, Privacy(epsilon=0.68")
    assert survey.spent.cost + rest.cost == survey.caps


def test_the_rest_is_not_the_guarantee_of_one_release(ledger: Any) -> None:
    """Noise for it would usually not fit."""
    survey = ledger.allocate("survey", PART)
    people = ln.protect(FRAME, unit="who", max_rows=1, ledger=survey, name="people")
    rest = survey.remaining
    for call in (
        lambda: ln.calibrate(rest, sensitivity=1),
        lambda: people.count(privacy=rest),
        lambda: ledger.allocate("more", rest),
    ):
        reject(call, "privacy must be the guarantee of one release", ledger)
    reject(lambda: ledger.set_limit(rest), "limit must be a Privacy", ledger)
    # A plan has noise for the cost of the rest, not for its guarantee.
    assert total_cost(one.gaussian_cost for one in ln.plan(rest, QUERIES)._ready).fits(rest.cost)
    assert ln.calibrate(P(rest.epsilon, rest.delta), sensitivity=1, solve=False)


def test_a_rest_without_squares_is_its_failure(ledger: Any) -> None:
    survey = ledger.allocate("survey", PART)
    survey.charge(costing(survey.caps.square))
    assert (survey.remaining.epsilon, survey.remaining.delta) == (0, survey.caps.failure)


# ------------------------------------------------------------------------------ reports


def test_the_declaration_has_allocations_and_costs(ledger: Any) -> None:
    assert ledger.export()["format"] == "leastnoise declaration 1"
    survey = ledger.allocate("survey", PART)
    counting().release(7, ledger=survey, key="a")
    declared = json.loads(json.dumps(ledger.export()))
    assert declared["format"] == "leastnoise declaration 2"
    (allocation,) = declared["evidence"]["allocations"]
    assert allocation["name"] == "survey"
    assert allocation["privacy"]["epsilon"] == "4/5"
    caps = {name: Fraction(text) for name, text in allocation["caps"].items()}
    spent = {name: Fraction(text) for name, text in allocation["spent"].items()}
    for cost in (caps, spent):
        assert cost.pop("rho") == cost["square"] / 2
    assert GaussianCost(**caps).delta(Fraction(4, 5)) <= PART.delta
    (release,) = declared["evidence"]["releases"]
    assert release["allocation"] == "survey"
    assert Fraction(release["cost"]["square"]) == spent["square"] == counting().gaussian_cost.square
    assert "Allocations: " in declared["deployment"]["accounting"]["composition"]


def test_the_figure_has_shares_of_allocations(ledger: Any) -> None:
    survey = ledger.allocate("survey", PART)
    counting().release(7, ledger=survey)
    inside: dict[Any, Any] = {}
    (moments,) = read_histories(ledger.rows(), inside).values()
    assert [(moment.spent[0], moment.releases) for moment in moments] == [
        (0, 0),
        (PART.epsilon, 0),
        (PART.epsilon, 1),
    ]
    assert [moment.spent for moment in inside["data", "survey"]] == [
        (0, 0),
        (counting().gaussian_cost.square / survey.caps.square, 0),
    ]
    drawn = json.dumps(budget(ledger).to_dict(), ensure_ascii=False)
    assert "share of μ² spent of allocation 'survey' of 'data'" in drawn
    assert "share of γ spent of allocation 'survey' of 'data'" in drawn


def run(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(main, list(words))
    assert done.exit_code == code, done.output
    return done.output


def test_allocations_on_the_command_line(tmp_path: Path) -> None:
    at = str(tmp_path / "a.ledger")
    run("ledger", "create", at, "--epsilon", "1", "--delta", "1e-6")
    part = ("--epsilon", "0.8", "--delta", "9e-7")
    assert "Allocation 'survey' is reserved." in run("ledger", "allocate", at, "survey", *part)
    assert "Nothing was charged" in run("ledger", "allocate", at, "survey", *part)
    said = run("ledger", "allocate", at, "survey", "--epsilon", "0.5", "--delta", "9e-7", code=2)
    assert "exists with ε = 0.8, δ = 9e-7" in " ".join(said.split())
    ask = ("release", "42", "--sensitivity", "1", "--integer", "--ledger", at)
    said = run(*ask, "--epsilon", "0.1", "--allocation", "survey", "--key", "a")
    assert "56.67% of μ² and 100% of γ remain in allocation 'survey'" in " ".join(said.split())
    said = run(*ask, "--epsilon", "0.3", "--allocation", "survey", code=3)
    assert "Not enough budget in allocation 'survey'" in said
    said = run(*ask, "--epsilon", "0.1", "--allocation", "survei", code=2)
    assert "Did you mean 'survey'?" in said
    shown = run("ledger", "show", at)
    assert "survey      0.8, 9e-7  μ = 0.1904, ρ = 0.01813, γ = 9e-8  56.67%, 100%" in shown
    assert "survey      0.1254  0.007852  a" in run("ledger", "releases", at)
    data = json.loads(run("ledger", "show", at, "--json"))
    cost = {name: Fraction(part) for name, part in data["last"][0]["cost"].items()}
    assert cost["rho"] == cost["square"] / 2 > 0
    assert data["allocations"][0]["name"] == data["last"][0]["allocation"] == "survey"
    assert "Verified: the 6 rows" in run("ledger", "verify", at)
    said = run("ledger", "set-limit", at, "--epsilon", "2")
    assert "The caps of allocations do not change." in said
    assert "μ = 0.1904, ρ = 0.01813, γ = 9e-8  56.67%" in said
    plan = ("ledger", "export", at, "--out", str(tmp_path / "a.json"))
    assert "Wrote the declaration" in run(*plan)
    assert "Drew the spending" in run("ledger", "plot", at, "--out", str(tmp_path / "a.svg"))
    assert "share of μ² spent" in (tmp_path / "a.svg").read_text("utf-8")
    whole = str(tmp_path / "b.ledger")
    run("ledger", "create", whole, "--epsilon", "1", "--delta", "1e-6", "--accounting", "gaussian")
    assert "default" in run("ledger", "show", whole)
    run(*ask[:-1], whole, "--epsilon", "0.1")
    assert "71.68%" in run("ledger", "show", whole)


# ------------------------------------------------------------------------------ old ledgers


def test_a_ledger_of_0_5_0_continues_with_an_allocation(tmp_path: Path) -> None:
    path = tmp_path / "old.ledger"
    shutil.copyfile(GOLDEN, path)
    with ln.Ledger(path) as ledger:
        spent, rows = ledger.account.spent, list(ledger.rows())
        assert ledger.accounting == "basic"
        assert ledger.allocations == []
        room = ledger.limit
        ledger.set_limit(P(room.epsilon + 1, room.delta + Fraction(1, 10**6)))
        survey = ledger.allocate("survey", LIMIT)
        counting().release(7, ledger=survey, key="new in an allocation")
        assert ledger.spent == P(spent.epsilon + 1, spent.delta + Fraction(1, 10**6))
        ledger.verify()
        assert list(ledger.rows())[: len(rows)] == rows
        assert {row.version for row in rows} == {1}


def test_rows_of_a_later_version_are_not_read(ledger: Any) -> None:
    ledger.allocate("survey", PART)
    rows = list(ledger.rows())
    later = rows[-1]._replace(version=3)
    accounts = Accounts()
    with pytest.raises(LedgerDamaged, match="row 3 is of version 3, which this version of"):
        accounts.follow(iter([*rows[:-1], later]))
    older = Accounts()
    with pytest.raises(LedgerDamaged, match="row 3 has version 1 instead of 2"):
        older.follow(iter([*rows[:-1], rows[-1]._replace(version=1)]))


# ------------------------------------------------------------------------------ a model

amounts = st.sampled_from([Fraction(n, d) for n in range(4) for d in (3, 7, 10)])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("plain"), amounts, st.integers(0, 3)),
        st.tuples(st.just("allocate"), st.sampled_from("xyz"), amounts, amounts),
        st.tuples(st.just("spend"), st.sampled_from("xyz"), amounts, amounts, st.integers(0, 9)),
        st.just(("reopen",)),
    ),
    max_size=25,
)


class Model:
    """A ledger with allocations in a few sums of fractions."""

    def __init__(self, limit: Any) -> None:
        self.limit, self.spent = limit, (ZERO, ZERO)
        self.caps: dict[str, GaussianCost] = {}
        self.parts: dict[str, tuple[Any, Fraction]] = {}
        self.costs: dict[str, GaussianCost] = {}
        self.keys: set[str] = set()

    def fits(self, privacy: Any) -> bool:
        epsilon, delta = self.spent
        within = epsilon + privacy.epsilon <= self.limit.epsilon
        return bool(within and delta + privacy.delta <= self.limit.delta)

    def charge(self, privacy: Any) -> None:
        self.spent = self.spent[0] + privacy.epsilon, self.spent[1] + privacy.delta


def attempt(call: Callable[[], object]) -> str:
    try:
        call()
    except BudgetExceeded:
        return "exceeded"
    except InvalidParameter:
        return "invalid"
    return "done"


def play(model: Model, ledger: Ledger, step: tuple[Any, ...]) -> None:
    """Take a step in the model and in the ledger; both must do the same."""
    what, *rest = step
    if what == "plain":
        privacy, key = P(rest[0], rest[0] / 10**6), f"plain {rest[0]} {rest[1]}"
        expected = "done" if key in model.keys or model.fits(privacy) else "exceeded"
        spending = Spending(privacy, described(), {})
        assert attempt(lambda: ledger.charge(spending, key)) == expected
        if expected == "done" and key not in model.keys:
            model.charge(privacy)
            model.keys.add(key)
    elif what == "allocate":
        name, size, part = rest
        privacy = P(size, size / 10**6)
        if not size:
            expected = "invalid"
        elif name in model.caps:
            expected = "done" if model.parts[name] == (privacy, part) else "invalid"
        else:
            expected = "done" if model.fits(privacy) and part < 1 else "exceeded"
        if part >= 1:
            expected = "invalid"
        made = attempt(lambda: ledger.allocate(name, privacy, discovery=part))
        assert made == expected
        if expected == "done" and name not in model.caps:
            model.caps[name] = find_caps(privacy, privacy.delta * part)
            model.parts[name], model.costs[name] = (privacy, part), NOTHING
            model.charge(privacy)
    elif what == "spend":
        name, square, failure, number = rest
        caps = model.caps.get(name)
        if caps is None:
            assert attempt(lambda: ledger.allocation(name)) == "invalid"
            return
        cost = GaussianCost(caps.square * square, caps.failure * failure)
        key = f"spend {name} {square} {failure} {number}"
        fits = (model.costs[name] + cost).fits(caps)
        expected = "done" if key in model.keys or fits else "exceeded"
        spending = costing(cost.square, cost.failure)
        assert attempt(lambda: ledger.allocation(name).charge(spending, key)) == expected
        if expected == "done" and key not in model.keys:
            model.costs[name] += cost
            model.keys.add(key)


@settings(max_examples=40)
@given(steps)
def test_random_steps_agree_with_a_model(sequence: list[tuple[Any, ...]]) -> None:
    limit = P(1, "1e-6")
    with quick_folder() as folder:
        at, model = Path(folder) / "a.ledger", Model(limit)
        ledger = ln.Ledger(at, limit=limit)
        try:
            for step in sequence:
                if step == ("reopen",):
                    ledger.close()
                    ledger = ln.Ledger(at)
                else:
                    play(model, ledger, step)
                assert ledger.spent == P(*model.spent)
                found = {one.name: (one.caps, one.spent) for one in ledger.allocations}
                assert found == {name: (model.caps[name], model.costs[name]) for name in model.caps}
            ledger.verify()
        finally:
            ledger.close()


def test_an_analyst_with_a_limit_spends_only_from_their_own_allocations(tmp_path: Path) -> None:
    """Otherwise a limit of an analyst would mean nothing as soon as there is an allocation."""
    path, tight = tmp_path / "people.ledger", ln.Privacy("0.1", "1e-8")
    mechanism = ln.calibrate(
        ln.Privacy("0.05", "1e-9"), sensitivity=1, integer=True, family="gaussian"
    )
    with ln.Ledger(path, limit=ln.Privacy(1, "1e-6"), accounting="gaussian") as ledger:
        mechanism.release(1, ledger=ledger)
    with (
        ln.Ledger(path, analyst="bob", analyst_limit=tight) as bob,
        pytest.raises(BudgetExceeded, match="Analyst 'bob' has a limit of their own"),
    ):
        mechanism.release(1, ledger=bob)
    with ln.Ledger(path, analyst="ann") as ann:  # without a limit
        mechanism.release(1, ledger=ann)
    basic = tmp_path / "basic.ledger"
    with ln.Ledger(basic, limit=ln.Privacy(1, "1e-6")) as ledger:
        ledger.allocate("shared", ln.Privacy("0.5", "5e-7"))
    with ln.Ledger(basic, analyst="bob", analyst_limit=tight) as bob:
        with pytest.raises(BudgetExceeded, match="was not charged to it"):
            mechanism.release(1, ledger=bob.allocation("shared"))
        with pytest.raises(BudgetExceeded, match="Not enough budget for analyst 'bob'"):
            bob.allocate("too much", ln.Privacy("0.5", "1e-8"))
        own = bob.allocate("own", tight)
        mechanism.release(1, ledger=own)
        assert bob.analyst_account.spent == tight
        bob.verify()
