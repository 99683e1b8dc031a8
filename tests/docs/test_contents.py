"""The pages about the paper's contents agree with the paper and with ``leastnoise.paper``."""

import re

import pytest

import leastnoise as ln
from leastnoise.mechanism import calibrate_pair
from leastnoise.paper import CONTENTS, CitedMechanism, Item, cited_mechanisms, claims
from leastnoise.paper.content_item import IMPORTS
from tests.docs.contents import DATA, FIGURE, THEORY, data, renewed, tables

RENEW = "run python -m tests.docs.contents"
NAMES: dict[str, object] = {"calibrate_pair": calibrate_pair}
exec("\n".join(IMPORTS), NAMES)
# The numbers that LaTeX prints for the environments of the paper, with their labels there. Theorems
# and corollaries share one counter.
LABELS = {
    "Definition 1": None,
    "Definition 2": None,
    "Definition 3": None,
    "Equation 1": "eqn:dpgeneral",
    "Equation 2": "eq:dp_zero_delta_constraint",
    "Equation 3": None,
    "Equation 4": "eqn:diffgeneralnoise1",
    "Equation 5": "eqn:obj1",
    "Equation 6": "eqn:objecinopt",
    "Equation 7": "eq:mainconstraint",
    "Equation 8": "eq:inequiality",
    "Equation 9": "eq:optimal-noise-l1",
    "Equation 10": "eq:optimal-noise-l2",
    "Property 1": "property1",
    "Property 2": "property:noise-decreasing",
    "Lemma 1": "lem:symmetry",
    "Lemma 2": "lem:no-singular-mass",
    "Theorem 1": "thm:sufficient-necessary",
    "Theorem 2": "thm:main",
    "Theorem 3": "thm:noise-general-n",
    "Corollary 4": "cor:noise-amplitude",
    "Corollary 5": "cor:noise-power",
    "Theorem 6": None,
    "Algorithm 1": "algo:uniform_mech",
    "Table 1": "tab:guassian",
    "Table 2": "tab:guassian2",
    "Figure 1": "fig:p_alpha",
    "Figure 2": "fig:discrete",
    "Figure 3": "fig:t_star",
    "Figure 4": "fig:zero_mass",
    "Figure 5": "fig:ratio",
    "Footnote 1": None,
}


@pytest.mark.parametrize("item", CONTENTS, ids=lambda item: item.place)
def test_a_call_returns_what_the_page_shows(item: Item) -> None:
    assert repr(eval(item.call, dict(NAMES))) == item.result


def test_every_numbered_part_of_the_paper_is_listed_once() -> None:
    places = [item.place for item in CONTENTS]
    assert len(set(places)) == len(places)
    assert {p for p in places if not p.startswith(("Section", "Abstract"))} == set(LABELS)


def test_parts_of_one_kind_are_in_the_order_of_their_numbers() -> None:
    found: dict[str, list[int]] = {}
    for item in CONTENTS:
        if match := re.fullmatch(r"(\w+) (\d+)", item.place):
            kind = match[1].replace("Corollary", "Theorem")
            found.setdefault(kind, []).append(int(match[2]))
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in found.values())
    assert len(found["Theorem"]) == 6
    assert len(found["Equation"]) == 10


ORDER = ["definition", "holds", "holds with a correction", "false"]


@pytest.mark.parametrize("item", CONTENTS, ids=lambda item: item.place)
def test_a_status_is_the_weakest_of_its_claims(item: Item) -> None:
    """Without a claim it is a definition, or the call itself verifies the statement."""
    statuses = {claim.where: claim.status for claim in claims()}
    if item.claims:
        assert item.status == max((statuses[place] for place in item.claims), key=ORDER.index)
    else:
        assert item.status == "definition" or (item.status, item.result) == ("holds", "True")


def test_every_claim_belongs_to_a_part_of_the_paper() -> None:
    named = {place for item in CONTENTS for place in item.claims}
    assert named == {claim.where for claim in claims()}


def test_the_page_states_the_imports_of_its_calls() -> None:
    text = (THEORY / "from-definitions-to-calls.md").read_text(encoding="utf-8")
    shown = re.findall(r"(?m)^>>> ((?:import|from) .+)$", text)
    assert shown == list(IMPORTS)


def test_what_does_not_simply_hold_leads_to_a_page() -> None:
    assert all(item.page for item in CONTENTS if item.status not in ("definition", "holds"))


@pytest.mark.parametrize("name", tables())
def test_a_table_is_that_of_the_code(name: str) -> None:
    text = (THEORY / f"{name}.md").read_text(encoding="utf-8")
    assert renewed(text, tables()[name]) == text, RENEW


def test_a_stale_table_is_found() -> None:
    name = "from-definitions-to-calls"
    text = (THEORY / f"{name}.md").read_text(encoding="utf-8")
    stale = text.replace("Uniform(radius=2/3, atom=0.6)", "Uniform(radius=2, atom=0.6)")
    assert stale != text
    assert renewed(stale, tables()[name]) == text


def test_the_figure_of_truncated_laplace_noise_is_that_of_the_code() -> None:
    assert DATA.read_text(encoding="utf-8") == data(), RENEW
    assert "Truncated Laplace noise above a lower bound" in FIGURE.read_text(encoding="utf-8")


@pytest.mark.parametrize("row", cited_mechanisms(), ids=lambda row: row.name)
def test_the_call_of_a_cited_mechanism_returns_its_cost(row: CitedMechanism) -> None:
    for cost, expected in ((ln.l1, row.amplitude), (ln.l2, row.power)):
        if expected is not None:
            assert eval(row.call, {**NAMES, "cost": cost}) == expected
