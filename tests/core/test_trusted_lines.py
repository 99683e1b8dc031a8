"""How much must be read to believe a release: the lines of core that it and its proof reach.

For each family of noise a mechanism that was calibrated is built again from its parts, which proves
its guarantee, and releases numbers until all tables of its sampler are built. Every function of
core that is called meanwhile is reached, and with it the lines of its file that are in no function:
imports, constants, heads of classes and their docstrings. Blank lines are not counted; functions
that only an error, an array or a rare word would reach are not either (tests/support/
trusted_lines.py). Finding the noise and certifying its cost is not part of it: an error there
costs accuracy, never privacy.
"""

import pytest

from tests.support.trusted_lines import (
    FAMILIES,
    counted,
    printed,
    reached,
    reached_by_joint_noise,
    reached_by_selection,
)

MOST = 2600
MOST_OF_A_FAMILY = 1200
MOST_OF_A_SELECTION = 800
MOST_OF_JOINT_NOISE = 1000


def test_all_families_together_need_few_lines() -> None:
    everything = counted(set().union(*(reached(family) for family in FAMILIES)))
    assert sum(lines for lines, _ in everything.values()) <= MOST, printed()
    # The controls: what must be there is, and what nobody needs to trust is not.
    names = {name for _, functions in everything.values() for name in functions}
    must = {"Releaser.__post_init__", "Releaser.add_noise", "check_privacy", "Grid.index"}
    must |= {
        "effective_steps",
        "ticket_if_accepted",
        "draw_exactly",
        "SystemTape.word",
        "exact_ratio",
    }
    assert must <= names
    assert not any("arrays" in file or "scipy" in file for file in everything)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_needs_fewer(family: str) -> None:
    table = counted(reached(family))
    assert 300 < sum(lines for lines, _ in table.values()) <= MOST_OF_A_FAMILY, printed()


def test_a_selection_needs_fewer_still() -> None:
    """Arrays included: candidates are many, so their coins are always flipped together."""
    table = counted(reached_by_selection())
    assert 200 < sum(lines for lines, _ in table.values()) <= MOST_OF_A_SELECTION, printed()
    names = {name for _, functions in table.values() for name in functions}
    assert {"Selector.__post_init__", "Selector.choose", "choose", "flip"} <= names
    assert {"Coins.lands", "Coins.lands_if_certain", "probabilities", "ticket_if_accepted"} <= names
    assert any("arrays/selection" in file for file in table)


def test_joint_noise_needs_few_lines() -> None:
    """Its proof and its sampler, unbounded and bounded, but no marginal, interval or cost."""
    table = counted(reached_by_joint_noise())
    assert 300 < sum(lines for lines, _ in table.values()) <= MOST_OF_JOINT_NOISE, printed()
    names = {name for _, functions in table.values() for name in functions}
    assert {"JointNoise.check_privacy", "JointStaircase.delta", "JointScheme.draw"} <= names
    assert {"BoundedJointStaircase.delta", "sum_growing", "JointReleaser.prepare"} <= names
    assert not any(name.startswith("JointMarginal.") for name in names)
