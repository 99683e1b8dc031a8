"""A deployment declaration: the guarantees given for a dataset, for others to check.

``deployment`` has the sections and fields of the public registry of deployments of differential
privacy, so that it can be submitted there. Dwork, Kohli and Mulligan (2019) proposed the registry,
Nanayakkara, Ghazi and Vadhan (2025) its schema. A field that a ledger cannot know is null, for a
person to fill in. ``evidence`` has the facts of the ledger in exact numbers, with every
certificate.
"""

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING

from leastnoise.core.exact import as_float, format_exact, format_ratio
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.json_types import Json
from leastnoise.ledger.accounts import Account, Accounts
from leastnoise.ledger.allocations import AllocationAccount, cost_to_json
from leastnoise.ledger.entries import Release, list_releases
from leastnoise.ledger.rows import (
    MECHANISM,
    NEWEST,
    OPENED,
    VERSION,
    Content,
    Row,
    mechanism_key,
    parse_amount,
    privacy_to_json,
    read_privacy,
    reading_content,
)
from leastnoise.rendering import one_line

if TYPE_CHECKING:
    from leastnoise.core.gaussian_cost import GaussianCost

# A note on the words of a guarantee, for reports of a ledger.
PERSON = '"One person" stands for one privacy unit.'
# The words below are part of this format: change them only with a new version.
FORMAT = "leastnoise declaration 1"
# With allocations: the guarantees of their releases are not added up, so a reader of the first
# version would find another sum.
FORMAT_WITH_ALLOCATIONS = "leastnoise declaration 2"
ARITHMETIC = "exact integer arithmetic on a lattice; no floating-point noise"
_COMPOSITION = (
    "Sums: the ε and the δ of all releases are added up exactly, and a release that would pass the "
    "limit is refused before noise is drawn. Valid whatever the mechanisms are, and also where "
    "questions depend on earlier answers (Dwork and Roth 2014, Theorem 3.16 and Appendix B; Rogers,"
    " Roth, Ullman and Vadhan 2016, section 3). Asking again under a key gives the stored answer "
    "and spends nothing."
)
_ALLOCATIONS = (
    "Allocations: a part of the limit is set aside once, as one charge of its (ε, δ), with caps "
    "(M², Γ) that imply it. Each release from it costs (μ², γ), and the sums of both never exceed "
    "the caps. So all releases of an allocation satisfy its (ε, δ) together, also where questions "
    "depend on earlier answers (Gaussian differential privacy, Dong, Roth and Su 2022; fully "
    "adaptive composition, Smith and Thakurta 2022)."
)
_POST_PROCESSING = (
    "None is recorded: what was done with the answers after their release the ledger does not know."
)
_JUSTIFICATION = (
    "Each noise comes with a certificate, which proves that it keeps its promise and how far its "
    "expected error is from the least that is possible (in the evidence, mechanism by mechanism)."
)


def declare(rows: Iterable[Row], dataset: str, unit: str | None = None) -> Json:
    """Return the declaration of a dataset, for JSON.

    Args:
        rows: All rows of the ledger, as :meth:`Ledger.rows` yields them. They are checked again.
        dataset: The name of the dataset.
        unit: The privacy unit in words, such as ``"person"``. The ledger stores only
            column names.
    """
    accounts, facts = Accounts(), list[Row]()
    followed = _follow_rows(rows, accounts, facts)
    releases = [release for release in list_releases(followed) if release.dataset == dataset]
    with reading_content(accounts.head.seq):
        return _build_declaration(accounts, facts, releases, dataset, unit)


def _build_declaration(
    accounts: Accounts, facts: list[Row], releases: list[Release], dataset: str, unit: str | None
) -> Json:
    described = {row.key: row for row in facts if row.kind == MECHANISM}
    mechanisms = {
        digest: described[mechanism_key(digest)].content
        for digest in sorted({digest for release in releases for digest in release.mechanisms})
    }
    opening = next((row for row in facts if row.kind == OPENED), None)
    allocations = accounts.allocations.all(dataset)
    return {
        "format": FORMAT_WITH_ALLOCATIONS if allocations else FORMAT,
        "status": "Draft",
        "deployment": _build_deployment(accounts.account(dataset), releases, mechanisms, unit),
        "evidence": {
            "ledger": opening.content["id"] if opening else None,
            "begun": opening.at if opening else None,
            **_build_evidence(accounts, dataset, releases, mechanisms),
        },
    }


def _follow_rows(rows: Iterable[Row], accounts: Accounts, facts: list[Row]) -> Iterator[Row]:
    """Yield rows after following them; collect the opening row and the mechanisms in ``facts``."""
    for row in rows:
        accounts.follow(iter((row,)))
        if row.kind in (OPENED, MECHANISM):
            facts.append(row)
        yield row


def _build_deployment(
    account: Account, releases: list[Release], mechanisms: dict[str, Content], unit: str | None
) -> Json:
    """Return the fields of the registry."""
    guarantee = _total_guarantee(account)
    answered = [release.answered for release in releases if release.answered]
    return {
        "product": {
            "name": account.dataset,
            "data_curators": None,
            "intended_use": None,
            "data_product_type": None,
            "data_product_region": None,
            "data_product_sector": None,
            "description": None,
            "publication_date": min(answered)[:10] if answered else None,
        },
        "dp_flavor": {
            "name": "Approximate DP" if guarantee.delta else "Pure DP",
            "data_domain": None,
            "unprotected_quantities": None,
        },
        "privacy_loss": {
            "privacy_unit": unit,
            "privacy_unit_description": _describe_unit(account, mechanisms),
            "privacy_parameters": {
                name: _float_not_below(part)
                for name, part in (("epsilon", guarantee.epsilon), ("delta", guarantee.delta))
                if part or name == "epsilon"
            },
            "privacy_parameters_description": (
                f"Everything released together keeps {guarantee}. The limit is {account.limit}, of "
                f"which {account.spent} was spent. {one_line(guarantee.explain())} "
                f"{PERSON} {account.describe_units()}"
            ),
        },
        "model": {
            "model_name": "Central",
            "release_type": "One release" if len(releases) == 1 else "Many releases",
            "data_source_type": None,
            "access_type": None,
        },
        "accounting": {
            "composition": f"{_COMPOSITION} {_ALLOCATIONS}"
            if account.allocations
            else _COMPOSITION,
            "post_processing": _POST_PROCESSING,
        },
        "implementation": {
            "pre_processing_eda_hyperparameter_tuning": None,
            "mechanisms": _describe_noise(mechanisms),
            "justification": _JUSTIFICATION,
        },
    }


def _build_evidence(
    accounts: Accounts, dataset: str, releases: list[Release], mechanisms: dict[str, Content]
) -> Json:
    version = import_module("leastnoise").__version__  # by name, as ledgers import no upper layer
    own_accounts = [account for account in accounts.all() if account.dataset == dataset]
    allocations = [
        allocation_to_json(allocation) for allocation in accounts.allocations.all(dataset)
    ]
    return {
        "head": str(accounts.head),
        "versions": {"leastnoise": version, "ledger": NEWEST if allocations else VERSION},
        "accounts": [account_to_json(account) for account in own_accounts],
        **({"allocations": allocations} if allocations else {}),
        "mechanisms": {
            digest: {"arithmetic": ARITHMETIC, **content} for digest, content in mechanisms.items()
        },
        "releases": [
            {**release_to_json(release), "certified": _is_certified(release, mechanisms)}
            for release in releases
        ],
    }


def account_to_json(account: Account) -> Json:
    """Return an account for JSON."""
    return {
        "dataset": account.dataset,
        "analyst": account.analyst,
        "limit": None if account.limit is None else _guarantee_to_json(account.limit),
        "spent": _guarantee_to_json(account.spent),
        "left": privacy_to_json(account.remaining),
        "units": [{"unit": unit.column, "neighbours": unit.neighbors} for unit in account.units],
        "undeclared": account.undeclared,
    }


def allocation_to_json(allocation: AllocationAccount) -> Json:
    """Return an allocation for JSON: its guarantee, its caps, and the sums of its costs."""
    return {
        "dataset": allocation.dataset,
        "name": allocation.name,
        "analyst": allocation.analyst,
        "privacy": _guarantee_to_json(allocation.privacy),
        "caps": _cost_to_json(allocation.caps),
        "spent": _cost_to_json(allocation.spent),
        "left": _cost_to_json(allocation.remaining_cost),
    }


def _cost_to_json(cost: "GaussianCost") -> Json:
    """Return μ², γ, and ρ of zCDP."""
    return {**cost_to_json(cost), "rho": format_ratio(cost.rho)}


def release_to_json(release: Release) -> Json:
    """Return a release for JSON; from an allocation, with the cost that was charged."""
    allocated: Json = {}
    if release.allocation is not None and release.cost is not None:
        allocated = {"allocation": release.allocation, "cost": _cost_to_json(release.cost)}
    return {
        "row": release.row,
        "key": release.key,
        "analyst": release.analyst,
        "charged": release.at,
        "answered": release.answered,
        "privacy": _guarantee_to_json(release.privacy),
        "mechanisms": list(release.mechanisms),
        "asked": release.asked,
        **allocated,
    }


def _is_certified(release: Release, mechanisms: dict[str, Content]) -> bool | None:
    """Return whether the stored certificate of the noise proves the guarantee of a release.

    Noise is stored once, with its first certificate, which may be for a weaker guarantee. The
    result is None if there is only a theorem and no certificate, and for the answers of a plan,
    whose guarantee is for all of them together. For an array, the guarantee of the certificate is
    composed over the elements that one person can change, as when the release was charged.
    """
    from leastnoise.core.basic_composition import compose_equal  # it loads the noise families

    query: Content = release.asked
    certificate = mechanisms[release.mechanisms[0]].get("certificate")
    if certificate is None or query.get("answer") == "plan":
        return None
    proved = read_privacy(certificate["privacy"])
    try:
        proved = compose_equal(proved, query.get("touches", 1))
    except InvalidParameter:  # together they guarantee nothing
        return False
    charged = release.privacy
    return proved.epsilon <= charged.epsilon and proved.delta <= charged.delta


def _total_guarantee(account: Account) -> Privacy:
    """Return the guarantee of all releases: the limit, or the sum if that is larger."""
    limit, spent = account.limit or Privacy(0, 0), account.spent
    return Privacy(max(limit.epsilon, spent.epsilon), max(limit.delta, spent.delta))


def _describe_unit(account: Account, mechanisms: dict[str, Content]) -> str:
    sizes = sorted({parse_amount(content["sensitivity"]) for content in mechanisms.values()})
    if not sizes:
        return "Nothing was released yet."
    deltas = ", ".join(format_exact(size) for size in sizes)
    return (
        f"{account.describe_units()} Each promise is against a change of one unit that moves the "
        f"true answer by at most Δ, a claim of whoever asked; Δ = {deltas}, release by release as "
        "the evidence says."
    )


def _describe_noise(mechanisms: dict[str, Content]) -> str:
    names = sorted({str(content["noise"]) for content in mechanisms.values()})
    noises = "; ".join(names) if names else "none yet"
    return (
        f"Noise by leastnoise: {noises}. Drawn with {ARITHMETIC}; bits come from the operating "
        "system's generator, for arrays expanded by AES-256-CTR."
    )


def _guarantee_to_json(privacy: Privacy) -> Json:
    """Return a guarantee exactly, and as floats that are not below it."""
    return {
        **privacy_to_json(privacy),
        "epsilon_float": _float_not_below(privacy.epsilon),
        "delta_float": _float_not_below(privacy.delta),
    }


def _float_not_below(exact: Fraction) -> float | None:
    """Return the nearest float, or the next one if its shortest decimal is below the number.

    None beyond the largest float, because JSON has no infinity.
    """
    nearest = as_float(exact)
    if math.isfinite(nearest) and Fraction(repr(nearest)) < exact:
        nearest = math.nextafter(nearest, math.inf)
    return nearest if math.isfinite(nearest) else None
