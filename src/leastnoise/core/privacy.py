"""An (ε, δ) guarantee, in exact rationals."""

from dataclasses import dataclass
from decimal import ROUND_CEILING
from fractions import Fraction
from typing import Final

from leastnoise.core.exact import (
    Number,
    exponential,
    format_probability,
    format_ratio,
    format_rounded,
    format_short,
    magnitude,
    parse_count,
    parse_rational,
    quote,
)
from leastnoise.errors import InvalidParameter, parameter
from leastnoise.rendering import paragraph

_OMITTED: Final = Fraction(-1)


@dataclass(frozen=True, slots=True)
class Privacy:
    """An (ε, δ) differential privacy guarantee.

    For any two neighboring datasets, which differ in one person, and any set S of outputs,
    P(output for one ∈ S) ≤ e^ε · P(output for the other ∈ S) + δ.

    Args:
        epsilon: ε ≥ 0. Default: 0.
        delta: 0 ≤ δ < 1. Default: 0. At least one of the two is required. ``Privacy(0, 0)``
            means that the output does not depend on any person.

    Raises:
        InvalidParameter: If neither is given, or one is out of range.

    >>> Privacy(delta=0.1)
    Privacy(epsilon=0, delta=0.1)
    >>> print(Privacy(1, "1e-6"))
    ε = 1, δ = 1e-6
    """

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number = _OMITTED, delta: Number = _OMITTED) -> None:
        if epsilon is _OMITTED and delta is _OMITTED:
            raise InvalidParameter(
                "Privacy needs an ε, a δ or both",
                fix="Use, for example, Privacy(epsilon=1, delta='1e-6') or Privacy(delta=0.1).",
            )
        exact_epsilon = Fraction(0) if epsilon is _OMITTED else parse_rational(epsilon, "epsilon")
        if exact_epsilon < 0:
            raise InvalidParameter(
                parameter("epsilon") + " must be 0 or more",
                got=quote(epsilon),
                fix="Use, for example, 0.5.",
            )
        exact_delta = Fraction(0) if delta is _OMITTED else parse_rational(delta, "delta")
        if not 0 <= exact_delta < 1:
            raise InvalidParameter(
                parameter("delta") + " must be at least 0 and less than 1",
                got=quote(delta),
                fix="Use a probability such as '1e-6'.",
            )
        object.__setattr__(self, "epsilon", exact_epsilon)
        object.__setattr__(self, "delta", exact_delta)

    def __repr__(self) -> str:
        epsilon, delta = _format_argument(self.epsilon), _format_argument(self.delta)
        return f"Privacy(epsilon={epsilon}, delta={delta})"

    def __str__(self) -> str:
        return format_guarantee(self)

    @property
    def advantage(self) -> Fraction:
        """The largest advantage of an attacker over blind guessing: δ at ε = 0.

        It is the largest total variation distance that the guarantee allows between the outputs
        with and without a person: (e^ε − 1 + 2δ)/(e^ε + 1), rounded up (Kairouz, Oh and Viswanath
        2015).
        The best guess "in or out" is correct with probability at most (1 + advantage)/2.

        >>> Privacy(delta=0.1).advantage
        Fraction(1, 10)
        """
        grown = exponential(self.epsilon)
        return min(Fraction(1), (grown.upper - 1 + 2 * self.delta) / (grown.lower + 1))

    def explain(self, *, people: int | None = None) -> str:
        """Return the meaning of this guarantee in plain words, with numbers rounded up.

        Every output that satisfies (ε, δ) is a post-processing of an answer that reveals
        everything with probability δ and otherwise changes the odds by at most e^ε (Kairouz, Oh and
        Viswanath 2015). So that answer is the worst case. It is not a statement about each output:
        with Gaussian noise, outputs that change the odds by more than e^ε have a total probability
        above δ.

        Args:
            people: The number of people in the data, if it is public. The text then states what δ
                means for all of them.

        Returns:
            One paragraph, wrapped at 80 columns.
        """
        return paragraph(
            explain_guarantee(self, people=people),
            "Answers about the same people add up: sum their ε and δ.",
        )


def explain_guarantee(privacy: Privacy, *, people: int | None = None) -> str:
    """Return the text of :meth:`Privacy.explain` without its last sentence, on one line."""
    words = [
        f"{format_guarantee(privacy)} means: an attacker who knows all the data except whether one "
        "person is in it, and sees this answer, guesses correctly at most "
        f"{_format_percentage((1 + privacy.advantage) * 50)}% of the time (50% is blind guessing).",
        _explain_worst_case(privacy),
    ]
    if people is not None:
        words.append(_explain_delta(parse_count(people, "people", least=1), privacy.delta))
    return " ".join(words)


def format_guess(advantage: Fraction) -> str:
    """Print how often an attacker guesses correctly, (1 + advantage)/2, rounded up.

    It has four digits, or more where fewer would not distinguish it from blind guessing.

    >>> format_guess(Fraction(1, 3)), format_guess(Fraction(1, 10**6)), format_guess(Fraction(0))
    ('66.67%', '50.00005%', '50%')
    """
    excess = 50 * advantage
    digits = 4 if not excess or excess >= 1 else 4 - magnitude(excess)
    return f"{format_rounded(50 + excess, digits, ROUND_CEILING)}%"


def _explain_worst_case(privacy: Privacy) -> str:
    """Explain the worst case that the guarantee allows."""
    odds = f" by a factor of at most {_format_up(exponential(privacy.epsilon).upper)}"
    if not privacy.delta:
        return f"The answer {'changes the odds' + odds if privacy.epsilon else 'reveals nothing'}."
    return (
        "The answer reveals no more than if, with probability "
        f"{format_probability(privacy.delta, 4)}, it showed with certainty whether that person is "
        "in the data, and otherwise "
        f"{'changed the odds' + odds if privacy.epsilon else 'revealed nothing'}."
    )


def _explain_delta(people: int, delta: Fraction) -> str:
    """Explain δ for a number of people."""
    if not delta:
        return f"Among {people} people, nobody's presence is revealed with certainty, as δ = 0."
    if people * delta < 1:
        return (
            f"Among n = {people} people, on average the presence of at most n·δ = "
            f"{_format_up(people * delta)} of them is revealed with certainty."
        )
    return (
        f"With n = {people} people, n·δ = {_format_up(people * delta)} is at least 1: even "
        "publishing the full row of one randomly chosen person would satisfy this guarantee."
    )


def _format_up(number: Fraction, digits: int = 4) -> str:
    return format_rounded(number, digits, ROUND_CEILING)


def _format_percentage(percent: Fraction) -> str:
    """Print a percentage rounded up, with enough digits to distinguish it from 50 and 100."""
    away = min(percent - 50, 100 - percent)
    digits = 4 if not away else min(8, max(4, 3 - magnitude(away)))
    return _format_up(percent, digits)


def format_guarantee(privacy: Privacy) -> str:
    """Print ε and δ by name.

    >>> format_guarantee(Privacy("0.2", "1e-7"))
    'ε = 0.2, δ = 1e-7'
    """
    return f"ε = {format_short(privacy.epsilon)}, δ = {format_short(privacy.delta)}"


def as_privacy(privacy: object, example: str) -> Privacy:
    """Return a guarantee, or reject anything else with an ``example``."""
    if type(privacy) is Privacy:
        return privacy
    if isinstance(privacy, Privacy):
        raise InvalidParameter(
            "privacy must be the guarantee of one release",
            got="a part of an allocation, whose guarantee is that of all releases from it together",
            fix=f"Use, for example, {example}, or Privacy(epsilon, delta) with these numbers.",
        )
    raise InvalidParameter(
        "privacy must be a Privacy",
        got=quote(privacy),
        fix=f"Use, for example, {example}.",
    )


def _format_argument(number: Fraction) -> str:
    """Print a number as an argument that is equal to it; small ones are easier to read quoted."""
    text = format_short(number)
    if text.startswith("≈"):
        text = format_ratio(number)
    return f"'{text}'" if "/" in text or "e" in text else text
