"""``share=`` and ``error=``: what they charge, and that the wanted error is reached."""

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import leastnoise as ln
from leastnoise.cli import main
from leastnoise.core.gaussian_cost import GaussianCost
from leastnoise.errors import BudgetExceeded, InvalidParameter
from leastnoise.ledger import AllocatedPrivacy, SpendingLimit
from leastnoise.mechanism import JointMechanism, as_noise, find_blocks, half_width
from leastnoise.tables import Count, Histogram, Mean, ProtectedTable, Quantile, Query, Sum
from leastnoise.tables.budget import allocate
from leastnoise.tables.queries.plan import plan_query
from leastnoise.tables.released_number import divide_by_weights
from leastnoise.tables.target_error import Scale, size_of

LIMIT = ln.Privacy(1, "1e-6")
USUAL = Fraction(19, 20)
ROWS = 5000
COLUMNS = {
    "unit": list(range(ROWS)),
    "g": [("a", "b")[place % 2] for place in range(ROWS)],
    "x": [float(place % 101) for place in range(ROWS)],
}
BOUNDS = (0, 100)
ACCOUNTING = ["basic", "gaussian"]


@pytest.fixture(params=ACCOUNTING)
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ln.Ledger]:
    with open_ledger(tmp_path, request.param) as opened:
        yield opened


@pytest.fixture
def people(ledger: ln.Ledger) -> ProtectedTable:
    return protected(ledger)


def open_ledger(folder: Path, accounting: str, **more: Any) -> ln.Ledger:
    return ln.Ledger(folder / "people.ledger", limit=LIMIT, accounting=accounting, **more)


def protected(ledger: Any, **more: Any) -> ProtectedTable:
    options: dict[str, Any] = {"unit": "unit", "max_rows": 1, "name": "people"} | more
    return ln.protect(pa.table(COLUMNS), ledger=ledger, **options)


def spent(ledger: ln.Ledger) -> GaussianCost | ln.Privacy:
    """Return the sum of the charges: (μ², γ) in an allocation, else (ε, δ)."""
    return ledger.allocations[0].spent if ledger.accounting == "gaussian" else ledger.spent


def size(answer: Any) -> Fraction:
    return size_of(answer.total_privacy)


# --------------------------------------------------------------------------------- the arguments


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({}, "Exactly one of privacy=, share= and error= must be given, got none"),
        ({"privacy": ln.Privacy(1), "share": 1}, "got privacy= and share="),
        ({"share": "1/2", "error": 3}, "got share= and error="),
        ({"privacy": 1}, "privacy must be a Privacy, got 1"),
        ({"share": 0}, "share= must be greater than 0, got 0"),
        ({"share": "3/2"}, "share= must be above 0 and at most 1, got '3/2'"),
        ({"share": "half"}, "share= must be a finite number, got 'half'"),
        ({"error": -1}, "error must be greater than 0, got -1"),
        ({"error": 3, "at_most": 2}, "at_most= must be above 0 and at most 1, got 2"),
        ({"share": "1/2", "at_most": 1}, "at_most= limits the cost of error=, got share="),
        ({"error": "1/2"}, "error must be at least 1 for integers, got 0.5"),
    ],
)
def test_invalid_amounts_are_rejected_before_anything_is_charged(
    people: ProtectedTable, ledger: ln.Ledger, terms: dict[str, Any], message: str
) -> None:
    before = spent(ledger)
    for call in (people.count, lambda **given: people.explain(Count(), **given)):
        with pytest.raises(InvalidParameter, match=re.escape(message)):
            call(**terms)
    assert spent(ledger) == before


def test_a_share_needs_a_ledger() -> None:
    people = protected(ln.UNRECORDED)
    with pytest.raises(InvalidParameter, match="share= needs a ledger, because it is a share of"):
        people.count(share="1/50")
    with pytest.raises(InvalidParameter, match="at_most= needs a ledger, because it is a share"):
        people.count(error=10, at_most="1/50")
    with pytest.raises(InvalidParameter, match="error= needs a ledger for a mean"):
        people.mean("x", bounds=BOUNDS, error=10)
    assert people.count(error=10).privacy.delta == 0


# ---------------------------------------------------------------------------------------- shares


def test_fifty_fiftieths_are_all_of_it_and_one_more_is_rejected(
    people: ProtectedTable, ledger: ln.Ledger
) -> None:
    limit = SpendingLimit.of(ledger)
    for place in range(50):
        people.count(share="1/50", key=f"count {place}")
    with pytest.raises(BudgetExceeded, match=r"Not enough budget in .*Nothing was charged"):
        people.count(share="1/50", key="one more")
    assert people.count(share="1/50", key="count 7").receipt.reused  # type: ignore[union-attr]
    if limit.caps is None:
        assert ledger.spent == LIMIT
        assert ledger.remaining == ln.Privacy(0, 0)
    else:
        assert spent(ledger) == GaussianCost(limit.caps.square)


@pytest.mark.parametrize(
    "query",
    [
        Count(),
        Count(by="g", groups=["a", "b"], max_groups=3),
        Sum("x", bounds=BOUNDS),
        Mean("x", bounds=BOUNDS),
        Quantile("x", "0.5", bounds=BOUNDS, bins=20, interval="0.95"),
        Histogram("x", edges=[0, 50, 100], max_groups=2),
    ],
    ids=["count", "by group", "sum", "mean", "quantile", "histogram"],
)
def test_a_share_of_an_allocation_is_charged_exactly_and_covers_the_noise(
    tmp_path: Path, query: Query
) -> None:
    with open_ledger(tmp_path, "gaussian") as ledger:
        people, caps = protected(ledger), ledger.allocations[0].caps
        prepared = people.explain(query, share="1/7").prepared
        assert prepared.gaussian_cost.fits(GaussianCost(caps.square / 7))
        # Not wasteful: the noise costs all of it.
        assert prepared.gaussian_cost.square > caps.square / 7 * Fraction(999_999, 1_000_000)
        (answer,) = people.ask([query], share="1/7")
        assert ledger.allocations[0].spent.square <= caps.square / 7
        assert ledger.allocations[0].spent.square > caps.square / 7 * Fraction(999_999, 1_000_000)
        assert ledger.allocations[0].spent.failure == 0
        assert isinstance(answer.total_privacy, AllocatedPrivacy)
        assert size(answer) == Fraction(1, 7)
        assert "cost: 14.29% of the allocation" in " ".join(str(answer).split())


def test_discovering_groups_takes_the_share_of_both_caps(tmp_path: Path) -> None:
    with open_ledger(tmp_path, "gaussian") as ledger:
        people, caps = protected(ledger), ledger.allocations[0].caps
        found = people.count(by="g", max_groups=1, share="1/50")
        assert found.keys == (("a",), ("b",))
        assert ledger.allocations[0].spent == caps * Fraction(1, 50)
        mechanism = found["a"].mechanism
        assert mechanism.gaussian_cost.fits(caps * Fraction(1, 50))
        assert mechanism.gaussian_cost.failure > 0


def test_an_allocation_without_gamma_cannot_discover_groups(tmp_path: Path) -> None:
    with open_ledger(tmp_path, "basic") as ledger:
        own = ledger.allocate("year", ln.Privacy("0.5", "1e-7"), discovery=0)
        people = protected(own)
        with pytest.raises(InvalidParameter, match="needs γ > 0, and this allocation has none"):
            people.count(by="g", max_groups=1, share="1/50")
        people.count(by="g", groups=["a", "b"], max_groups=1, share="1/50")
        assert ledger.allocations[0].spent.square == own.caps.square / 50


def test_a_share_is_of_the_limit_of_the_analyst(tmp_path: Path) -> None:
    own = ln.Privacy("0.2", "1e-7")
    with open_ledger(tmp_path, "basic", analyst="ann", analyst_limit=own) as ledger:
        assert protected(ledger).count(share="1/4").privacy == ln.Privacy("0.05", "2.5e-8")


# ---------------------------------------------------------------------------------------- errors

WANTED: list[tuple[Query, Fraction]] = [
    (Count(), Fraction(120)),
    (Count(by="g", groups=["a", "b"], max_groups=3), Fraction(300)),
    (Sum("x", bounds=BOUNDS), Fraction(10_000)),
    (Histogram("x", edges=[0, 50, 100], max_groups=2), Fraction(200)),
    (Quantile("x", "0.5", bounds=BOUNDS, bins=20), Fraction(200)),
]


@pytest.mark.parametrize(
    ("query", "error"), WANTED, ids=["count", "by group", "sum", "histogram", "quantile"]
)
def test_a_wanted_error_is_reached_and_costs_no_more_than_it_must(
    people: ProtectedTable, ledger: ln.Ledger, query: Query, error: Fraction
) -> None:
    planned = plan_query(query, people.source, people.unit)
    scale = Scale(SpendingLimit.of(ledger))

    def error_of(amount: ln.Privacy) -> Fraction:
        return planned.query.answer_error(allocate(amount, planned.numbers)[0])

    before = spent(ledger)
    (answer,) = people.ask([query], error=error)
    cost = size(answer)
    assert error_of(scale.amount(cost)) <= error
    # A smaller amount, by more than the four digits of the search, is not enough.
    assert error_of(scale.amount(cost * Fraction(99, 100))) > error
    assert size_of(people.explain(query, error=error * Fraction(102, 100)).prepared.together) < cost
    # It is charged once, as the answer states.
    total = answer.total_privacy
    if isinstance(total, AllocatedPrivacy):
        assert total.cost == GaussianCost(cost * total.caps.square)
        now = spent(ledger)
        assert isinstance(now, GaussianCost)
        assert now.square == pytest.approx(total.cost.square)
        assert now.fits(total.cost)
    else:
        assert spent(ledger) == total
    assert spent(ledger) != before
    (again,) = people.ask([query], error=error)
    assert again.receipt is not None
    assert again.receipt.reused


def test_in_an_allocation_a_count_has_the_sigma_of_the_closed_form(tmp_path: Path) -> None:
    """P(|N| ≤ E) for rounded Gaussian noise is P(|X| ≤ E + ½), so σ = (E + ½)/z."""
    with open_ledger(tmp_path, "gaussian") as ledger:
        people, caps = protected(ledger), ledger.allocations[0].caps
        cost = size(people.count(error=40))
        sigma = 40.5 / NormalDist().inv_cdf(0.975)
        assert 1 <= float(cost * caps.square) * sigma**2 <= 1.001


def test_a_wanted_error_of_discovered_groups(tmp_path: Path) -> None:
    with open_ledger(tmp_path, "gaussian") as ledger:
        people = protected(ledger)
        found = people.count(by="g", max_groups=1, error=60)
        assert half_width(found["a"].mechanism, USUAL) <= 60
        caps, charged = ledger.allocations[0].caps, ledger.allocations[0].spent
        assert charged == caps * (charged.square / caps.square)
        # The sum's error is wanted, and its count decides.
        sums = people.sum("x", bounds=BOUNDS, by="g", max_groups=1, error=5000)
        assert half_width(sums["a"].mechanism, USUAL) <= 5000
    with pytest.raises(InvalidParameter, match="Discovering groups needs δ > 0, which an error"):
        protected(ln.UNRECORDED).count(by="g", max_groups=1, error=60)


def test_an_error_beyond_at_most_is_rejected_with_one_that_is_possible(
    people: ProtectedTable, ledger: ln.Ledger
) -> None:
    before = spent(ledger)
    with pytest.raises(
        BudgetExceeded, match=r"but at most .* may be spent. Nothing was ch"
    ) as told:
        people.count(error=20, at_most="1/100")
    assert spent(ledger) == before
    possible = told.value.fix.rsplit("error=", 1)[1].rstrip(".")
    answer = people.count(error=possible, at_most="1/100")
    assert half_width(answer.mechanism, USUAL) <= Fraction(possible)
    assert size(answer) <= Scale(SpendingLimit.of(ledger)).cap(Fraction(1, 100))


def test_an_error_beyond_the_rest_is_rejected_with_one_that_is_possible(
    people: ProtectedTable, ledger: ln.Ledger
) -> None:
    people.count(share="0.99")
    before = spent(ledger)
    with pytest.raises(BudgetExceeded, match=r"Not enough budget in .*an error of ± ") as told:
        people.count(error=30)
    assert spent(ledger) == before
    possible = told.value.fix.rsplit("error=", 1)[1].rstrip(".")
    answer = people.count(error=possible)
    assert half_width(answer.mechanism, USUAL) <= Fraction(possible)
    assert Fraction(possible) < 1000  # it uses what remains


def test_no_budget_is_enough_for_some_errors(tmp_path: Path) -> None:
    more = r"± 1 needs more than the budget.*an error of ± 8 is possible: write error=8\."
    with open_ledger(tmp_path, "gaussian") as ledger, pytest.raises(BudgetExceeded, match=more):
        protected(ledger).count(error=1)


def test_an_error_beyond_every_budget_is_rejected_with_one_within_at_most(tmp_path: Path) -> None:
    """± 5 would cost more than the whole allocation; what fits must fit into ``at_most`` too."""
    with open_ledger(tmp_path, "gaussian") as ledger:
        people = protected(ledger)
        with pytest.raises(BudgetExceeded, match="needs more than the budget") as told:
            people.count(error=5, at_most="1/100")
        assert not ledger.allocations[0].spent.square
        possible = told.value.fix.rsplit("error=", 1)[1].rstrip(".")
        answer = people.count(error=possible, at_most="1/100")
        assert size(answer) <= Fraction(1, 100)


def test_several_queries_have_no_error_together(people: ProtectedTable) -> None:
    with pytest.raises(InvalidParameter, match=r"error is for one query, .* got 2 queries"):
        people.ask([Count(), Sum("x", bounds=BOUNDS)], error=5)


# ------------------------------------------------------------------ repeated under another limit


def test_a_stored_answer_with_an_error_is_returned_for_any_cap_and_limit(tmp_path: Path) -> None:
    with open_ledger(tmp_path, "basic") as ledger:
        people = protected(ledger)
        for key in (None, "count of people"):
            first = people.count(error=40, at_most="1/2", key=key)
            ledger.set_limit(ln.Privacy(4, "1e-5"))
            again = people.count(error=40, at_most="1/1000", key=key)
            assert (again.value, again.receipt and again.receipt.reused) == (first.value, True)
            with pytest.raises(BudgetExceeded, match=r"at most .* may be spent"):
                people.count(error=40, at_most="1/1000", key=key, fresh=True)
            ledger.set_limit(LIMIT)
        assert len(ledger.releases) == 2


def test_a_key_with_the_same_share_returns_its_answer_after_the_limit_changed(
    tmp_path: Path,
) -> None:
    with open_ledger(tmp_path, "basic") as ledger:
        people = protected(ledger)
        first = people.count(share="1/100", key="d")
        ledger.set_limit(ln.Privacy(4, "1e-5"))
        again = people.count(share="1/100", key="d")
        assert (again.value, again.privacy) == (first.value, first.privacy)
        assert len(ledger.releases) == 1
        # The key stands for the amount that it had, also for fresh noise.
        people.count(share="1/100", key="d", fresh=True)
        assert ledger.spent == ln.Privacy(LIMIT.epsilon / 50, LIMIT.delta / 50)
        # Another share is another query, and a new key is a share of the new limit.
        with pytest.raises(InvalidParameter, match="was used with a different ε and δ"):
            people.count(share="1/400", key="d")
        assert people.count(share="1/100", key="e").privacy == ln.Privacy("0.04", "1e-7")
        with pytest.raises(InvalidParameter, match="A key must be a string of 1 to"):
            people.count(share="1/100", key="")


def test_a_key_of_an_analyst_keeps_the_share_of_their_own_limit(tmp_path: Path) -> None:
    own = ln.Privacy("0.2", "1e-7")
    with open_ledger(tmp_path, "basic", analyst="ann", analyst_limit=own) as ledger:
        first = protected(ledger).count(share="1/4", key="d")
        ledger.set_limit(ln.Privacy("0.4", "1e-7"), analyst="ann")
        assert protected(ledger).count(share="1/4", key="d").value == first.value
        assert len(ledger.releases) == 1


def test_fresh_noise_under_the_key_of_another_analyst_costs_a_share_of_the_own_limit(
    tmp_path: Path,
) -> None:
    """The key stands for one guarantee, so the share must be the one that has it."""
    first_limit, own = ln.Privacy("0.2", "1e-7"), ln.Privacy("0.5", "25e-8")
    with open_ledger(tmp_path, "basic", analyst="ann", analyst_limit=first_limit) as ledger:
        first = protected(ledger).count(share="1/4", key="d")
        where = ledger.where
    with ln.Ledger(where, analyst="bob", analyst_limit=own) as ledger:
        people = protected(ledger)
        assert people.count(share="1/4", key="d").value == first.value
        with pytest.raises(InvalidParameter, match="was used with a different ε and δ"):
            people.count(share="1/4", key="d", fresh=True)
        assert ledger.analyst_account.spent == ln.Privacy(0)
        assert people.count(share="1/10", key="d", fresh=True).privacy == first.privacy
        ledger.set_limit(ln.Privacy("0.6", "3e-7"), analyst="bob")
        people.count(share="1/10", key="d", fresh=True)  # of the limit when bob first paid
        assert ledger.analyst_account.spent == ln.Privacy("0.1", "5e-8")


def test_any_answer_from_an_allocation_states_what_it_cost(tmp_path: Path) -> None:
    with open_ledger(tmp_path, "gaussian") as ledger:
        answer = protected(ledger).count(privacy=ln.Privacy("0.01"))
        (account,) = ledger.allocations
        percent = 100 * float(account.spent.square / account.caps.square)
        (cost,) = re.findall(r"cost: ([0-9.]+)% of the allocation", " ".join(str(answer).split()))
        assert percent <= float(cost) <= 1.001 * percent
    assert "cost:" not in str(protected(ln.UNRECORDED).count(privacy=ln.Privacy("0.01")))


# --------------------------------------------------------------------------------------- weights


def test_weights_divide_the_budget_among_queries(tmp_path: Path) -> None:
    queries = [Count(), Sum("x", bounds=BOUNDS)]
    people = protected(ln.UNRECORDED)
    answers: Any = people.ask(queries, privacy=ln.Privacy(1), weights=[3, 1])
    assert [answer.mechanism.privacy.epsilon for answer in answers] == [
        Fraction(3, 4),
        Fraction(1, 4),
    ]
    assert answers[0].total_privacy == ln.Privacy(1)
    with open_ledger(tmp_path, "gaussian") as ledger:
        answers = protected(ledger).ask(queries, share="1/2", weights=["3", "1"])
        count, total = (answer.mechanism.gaussian_cost.square for answer in answers)
        assert float(count / total) == pytest.approx(3)
        half = GaussianCost(ledger.allocations[0].caps.square / 2)
        assert ledger.allocations[0].spent == half
        assert (answers[0].mechanism.gaussian_cost + answers[1].mechanism.gaussian_cost).fits(half)


def test_equal_weights_of_queries_with_one_number_are_the_default() -> None:
    people = protected(ln.UNRECORDED)
    queries = [Count(), Sum("x", bounds=BOUNDS)]
    without = people.explain(*queries, privacy=ln.Privacy(1, "1e-6"))
    given = people.explain(*queries, privacy=ln.Privacy(1, "1e-6"), weights=[5, 5])
    assert given.prepared.key == without.prepared.key


def test_a_number_of_several_queries_gets_a_part_of_each() -> None:
    """The first query has the numbers 0 and 1, the second has 1 alone."""
    parts = divide_by_weights([Fraction(1), Fraction(3)], [(0, 1), (1,)])
    assert parts == (Fraction(1, 8), Fraction(7, 8))
    people = protected(ln.UNRECORDED)
    queries = [Count(where="x >= 0"), Mean("x", bounds=BOUNDS), Quantile("x", 0.5, bounds=BOUNDS)]
    prepared = people.explain(*queries, privacy=ln.Privacy(1), weights=[1, 2, 1]).prepared
    epsilons = [
        [mechanism.privacy.epsilon for _, mechanism in numbers] for _, numbers in prepared.queries
    ]
    # The count and both numbers of the mean have joint noise, with all of their parts.
    assert epsilons == [[Fraction(3, 4)], [Fraction(3, 4)] * 2, [Fraction(1, 4)]]
    joined = [as_noise(own) for _, numbers in prepared.queries[:2] for _, own in numbers]
    assert [(type(block), places) for block, places in find_blocks(joined)] == [
        (JointMechanism, (0, 1, 2))
    ]
    assert prepared.together == ln.Privacy(1)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1], "weights must have a number for each query, got 1 for 2"),
        ([1, 0], "a weight must be greater than 0, got 0"),
        ("12", "weights must be a list, got '12'"),
    ],
)
def test_invalid_weights_are_rejected(weights: Any, message: str) -> None:
    queries = [Count(), Sum("x", bounds=BOUNDS)]
    with pytest.raises(InvalidParameter, match=re.escape(message)):
        protected(ln.UNRECORDED).ask(queries, privacy=ln.Privacy(1), weights=weights)


# -------------------------------------------------------------------- dry runs and command line


def test_a_dry_run_shows_the_amount_and_charges_nothing(
    people: ProtectedTable, ledger: ln.Ledger
) -> None:
    before = spent(ledger)
    shared = str(people.explain(Count(), share="1/50"))
    limit = "allocation" if ledger.accounting == "gaussian" else "limit"
    assert f"Share         0.02 of the {limit}" in shared
    wanted = str(people.explain(Count(), error=40, at_most="1/2"))
    assert f"Target error  ± 40 (95% confidence), for at most 0.5 of the {limit}" in wanted
    assert wanted.splitlines()[3].split()[:4] == ["count", "count", "±", "40"]
    assert wanted.index("95% error") < wanted.index("Table ")
    dry = people.explain(Mean("x", bounds=BOUNDS), error=3)
    then: Any = dry.to_dict()["then"]
    assert then["error_95"] == "3"
    assert [*then["price_by_rows"]] == ["100", "1000", "10000"]
    assert "then" not in people.explain(Count(), error=40).to_dict()
    mean = " ".join(str(dry).split())
    assert (
        "mean of x With probability 99%, the 95% interval is at most ± 3. The rows are counted "
        "first, perhaps" in mean
    )
    assert all(f" {rows} rows: " in mean for rows in ("100", "1,000", "10,000"))
    assert ("% of the allocation for counts" in mean) is (ledger.accounting == "gaussian")
    assert max(map(len, str(dry).splitlines())) <= 80
    assert spent(ledger) == before


def test_a_dry_run_names_the_noise_that_is_used_and_leads_with_errors(tmp_path: Path) -> None:
    with open_ledger(tmp_path, "gaussian") as ledger:
        people = protected(ledger)
        shared = str(people.explain(Count(by="g", max_groups=1), share="1/20"))
        (line,) = (line for line in shared.splitlines() if line.startswith("count by g  "))
        assert line.endswith("truncated gaussian")
        assert "canonical" not in shared
    people = protected(ln.UNRECORDED)
    discovered = str(people.explain(Count(by="g", max_groups=1), privacy=LIMIT))
    assert discovered.splitlines()[3].endswith("canonical")
    mean = str(people.explain(Mean("x", bounds=BOUNDS), privacy=LIMIT))
    error, table = mean.index("mean of x\n    95% error of the mean at most"), mean.index("Table ")
    assert mean.index("95% error") < error < table < mean.index("Guarantee")
    for text in (shared, discovered, mean):
        assert max(map(len, text.splitlines())) <= 80


@pytest.fixture(params=ACCOUNTING)
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    lines = ["unit,x", *(f"{place},{place % 101}" for place in range(2000))]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    open_ledger(tmp_path, request.param).close()
    return str(request.param)


def call(*words: str) -> Any:
    return CliRunner().invoke(main, list(words))


COUNT = ["count", "people.csv", "--unit", "unit", "--max-rows", "1", "--ledger", "people.ledger"]


def test_the_commands_take_shares_and_errors(folder: str) -> None:
    done = call(*COUNT, "--share", "1/50")
    assert done.exit_code == 0
    assert ("cost: 2% of the allocation" in " ".join(done.output.split())) is (folder == "gaussian")
    done = call(*COUNT, "--error", "40")
    assert done.exit_code == 0
    assert "± 40 (95% confidence)" in done.output
    done = call(*COUNT, "--error", "40", "--dry-run")
    assert "Target error  ± 40" in done.output
    done = call(*COUNT, "--error", "2", "--at-most", "1/50")
    assert done.exit_code == 3
    assert "write --error " in " ".join(done.output.split())
    done = call(*COUNT, "--error", "40", "--json")
    assert ('"share"' in done.output) is (folder == "gaussian")
    mean = ["mean", "people.csv", "x", "--bounds", "0", "100", *COUNT[2:]]
    done = call(*mean, "--error", "9")
    assert done.exit_code == 0
    assert "for everything released together" in " ".join(done.output.split())


def test_a_share_above_the_rest_is_rejected_with_the_share_that_remains(folder: str) -> None:
    """The share that the message names is then possible."""
    assert call(*COUNT, "--share", "3/5").exit_code == 0
    older = [*COUNT, "--where", "x > 18"]
    done = call(*older, "--share", "3/5")
    assert done.exit_code == 3
    assert "use --share 0.4 or less." in " ".join(done.output.split())
    assert call(*older, "--share", "0.4").exit_code == 0


def test_the_commands_reject_two_amounts_and_none(folder: str) -> None:
    done = call(*COUNT, "--error", "40", "--epsilon", "1")
    assert done.exit_code == 2
    assert "Exactly one of --epsilon and --delta, --share and --error" in " ".join(
        done.output.split()
    )
    done = call(*COUNT)
    assert done.exit_code == 2
    assert "or --share S, or --error A" in " ".join(done.output.split())
    words = [word for word in COUNT if word not in ("--ledger", "people.ledger")]
    done = call(*words, "--share", "1/50", "--dry-run")
    assert done.exit_code == 2
    assert "--share needs a ledger" in " ".join(done.output.split())
