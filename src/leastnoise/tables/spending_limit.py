"""Words and JSON for a guarantee that may be a part of an allocation."""

from decimal import ROUND_CEILING

from leastnoise.core.exact import format_ratio, format_rounded
from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.ledger import AllocatedPrivacy, cost_to_json

_PERCENT_DIGITS = 4


def describe_share(privacy: Privacy) -> str:
    """Print the part of its allocation that a guarantee takes; empty if it is no part of one."""
    if not isinstance(privacy, AllocatedPrivacy):
        return ""
    percent = format_rounded(100 * privacy.share, _PERCENT_DIGITS, ROUND_CEILING)
    return f"{percent}% of the allocation"


def describe_amount(privacy: Privacy) -> str:
    """Print a guarantee; of a part of an allocation, also how large a part it is."""
    share = describe_share(privacy)
    return f"{share} ({format_guarantee(privacy)})" if share else format_guarantee(privacy)


def share_to_json(privacy: Privacy) -> dict[str, str]:
    """Return the cost of a part of an allocation, as JSON; empty if it is no part of one."""
    if not isinstance(privacy, AllocatedPrivacy):
        return {}
    return {"share": format_ratio(privacy.share), **cost_to_json(privacy.cost)}
