"""Words and facts for printed answers: ledger entry, stored answer, maximum error."""

from leastnoise.core.exact import format_short
from leastnoise.core.privacy import Privacy
from leastnoise.errors import Words
from leastnoise.ledger import Receipt
from leastnoise.rendering import Fact, keep_together, printable, sentences

# How to get another answer than a stored one.
ANOTHER_VALUE = Words(
    "For another value, pass another key=. To draw new noise, pass fresh=True. Both are charged.",
    "For another value, pass another --key. To draw new noise, pass --fresh. Both are charged.",
)


def format_brief(title: str, figures: str, privacy: Privacy) -> str:
    """Return an answer in one short line, for its repr.

    >>> format_brief("count", "8017 ± 15 (95%)", Privacy("0.2"))
    '<count: 8017 ± 15 (95%), ε = 0.2>'
    """
    parts = {"ε": privacy.epsilon, "δ": privacy.delta}
    guarantee = [f"{name} = {format_short(part)}" for name, part in parts.items() if part]
    return f"<{printable(title)}: {', '.join([figures, *(guarantee or ['ε = 0'])])}>"


def max_error_words(error: str | None) -> str:
    """Return the words for a maximum error within a sentence."""
    return keep_together("no max error" if error is None else f"max error {error}")


def recorded_as(receipt: Receipt | None) -> str:
    """Return the words for the ledger entry of a release; no line breaks within its key."""
    if receipt is None:
        return "not recorded"
    return f"recorded as {keep_together(repr(receipt.key))} on {receipt.at[:10]}"


def reused_lines(receipt: Receipt | None, advice: str = ANOTHER_VALUE.python) -> list[str]:
    """Return the sentences about a stored answer as lines, and none for a new answer.

    ``advice`` says how to get another answer.
    """
    if receipt is None or not receipt.reused:
        return []
    return sentences(f"Stored answer of {receipt.at[:10]}: nothing was charged. {advice}")


def reused_facts(receipt: Receipt | None, advice: str = ANOTHER_VALUE.python) -> list[Fact]:
    """Return the advice about a stored answer as a fact, and none for a new answer."""
    return [("Note", advice)] if receipt is not None and receipt.reused else []


def record_facts(receipt: Receipt | None) -> list[Fact]:
    """Return labelled facts about the ledger entry of a release."""
    if receipt is None:
        return [("Budget", "not recorded")]
    day = receipt.at[:10]
    charged = f"nothing charged: stored answer of {day}" if receipt.reused else f"recorded on {day}"
    return [("Budget", charged), ("Key", receipt.key), *reused_facts(receipt)]
