"""A deployment declaration: the guarantees given for a dataset, for others to check.

``deployment`` has the sections and fields of the public registry of deployments of differential
privacy (Dwork, Kohli and Mulligan 2019 asked for one; Nanayakkara, Ghazi and Vadhan 2025 for its
schema), so that it can be handed in there; what a ledger cannot know is null, to be filled in by
a person. ``evidence`` has what the ledger does know, in exact numbers, with every certificate.
"""

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from importlib import import_module

from leastnoise.core.exact import as_float, format_exact
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.ledger.accounts import Account, Accounts
from leastnoise.ledger.entries import Release, releases_of
from leastnoise.ledger.rows import (
    MECHANISM,
    OPENED,
    VERSION,
    Json,
    Row,
    amount,
    mechanism_key,
    privacy_to_json,
    read_privacy,
    reading_content,
)

# What the words of a guarantee mean in a report of a ledger.
PERSON = '"One person" stands for one privacy unit.'
FORMAT = "leastnoise declaration 1"
ARITHMETIC = "exact integer arithmetic on a lattice; no floating-point noise"
_COMPOSITION = (
    "Sums: the ε and the δ of all releases are added up exactly, and a release that would pass the "
    "limit is refused before noise is drawn. Valid whatever the mechanisms are, and also where "
    "questions depend on earlier answers (Dwork and Roth 2014, Theorem 3.16 and Appendix B; Rogers,"
    " Roth, Ullman and Vadhan 2016, section 3). Asking again under a key gives the stored answer "
    "and spends nothing."
)
_POST_PROCESSING = (
    "None is recorded: what was done with the answers after their release the ledger does not know."
)
_JUSTIFICATION = (
    "Each noise comes with a certificate, which proves that it keeps its promise and how far its "
    "expected error is from the least that is possible (in the evidence, mechanism by mechanism)."
)


def declare(rows: Iterable[Row], dataset: str, unit: str | None = None) -> Json:
    """Return the declaration of a data set, for JSON.

    Args:
        rows: All rows of the ledger, as :meth:`Ledger.rows` gives them out; they are checked again.
        dataset: The data set.
        unit: Whose presence is protected, such as ``"person"``: the ledger knows columns only.
    """
    known, facts = Accounts(), list[Row]()
    followed = _followed(rows, known, facts)
    releases = [release for release in releases_of(followed) if release.dataset == dataset]
    with reading_content(known.head.seq):
        return _declaration(known, facts, releases, dataset, unit)


def _declaration(
    known: Accounts, facts: list[Row], releases: list[Release], dataset: str, unit: str | None
) -> Json:
    described = {row.key: row for row in facts if row.kind == MECHANISM}
    mechanisms = {
        digest: described[mechanism_key(digest)].content
        for digest in sorted({digest for release in releases for digest in release.mechanisms})
    }
    opened = next((row for row in facts if row.kind == OPENED), None)
    return {
        "format": FORMAT,
        "status": "Draft",
        "deployment": _deployment(known.account(dataset), releases, mechanisms, unit),
        "evidence": {
            "ledger": opened.content["id"] if opened else None,
            "begun": opened.at if opened else None,
            **_evidence(known, dataset, releases, mechanisms),
        },
    }


def _followed(rows: Iterable[Row], known: Accounts, facts: list[Row]) -> Iterator[Row]:
    """Go through rows, follow them and keep those that are neither charge nor answer."""
    for row in rows:
        known.follow(iter((row,)))
        if row.kind in (OPENED, MECHANISM):
            facts.append(row)
        yield row


def _deployment(
    account: Account, releases: list[Release], mechanisms: dict[str, Json], unit: str | None
) -> Json:
    """Return what the registry asks for."""
    promise = _kept(account)
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
            "name": "Approximate DP" if promise.delta else "Pure DP",
            "data_domain": None,
            "unprotected_quantities": None,
        },
        "privacy_loss": {
            "privacy_unit": unit,
            "privacy_unit_description": _unit(account, mechanisms),
            "privacy_parameters": {
                name: _number(part)
                for name, part in (("epsilon", promise.epsilon), ("delta", promise.delta))
                if part or name == "epsilon"
            },
            "privacy_parameters_description": (
                f"Everything released together keeps {promise}. The limit is {account.limit}, of "
                f"which {account.spent} was spent. {promise.explain()} "
                f"{PERSON} {account.describe_units()}"
            ),
        },
        "model": {
            "model_name": "Central",
            "release_type": "One release" if len(releases) == 1 else "Many releases",
            "data_source_type": None,
            "access_type": None,
        },
        "accounting": {"composition": _COMPOSITION, "post_processing": _POST_PROCESSING},
        "implementation": {
            "pre_processing_eda_hyperparameter_tuning": None,
            "mechanisms": _noises(mechanisms),
            "justification": _JUSTIFICATION,
        },
    }


def _evidence(
    known: Accounts, dataset: str, releases: list[Release], mechanisms: dict[str, Json]
) -> Json:
    version = import_module("leastnoise").__version__  # what it imports is no business of a ledger
    accounts = [account for account in known.all() if account.dataset == dataset]
    return {
        "head": str(known.head),
        "versions": {"leastnoise": version, "ledger": VERSION},
        "accounts": [account_to_json(account) for account in accounts],
        "mechanisms": {
            digest: {"arithmetic": ARITHMETIC, **content} for digest, content in mechanisms.items()
        },
        "releases": [
            {**release_to_json(release), "certified": _certified(release, mechanisms)}
            for release in releases
        ],
    }


def account_to_json(account: Account) -> Json:
    """Return an account as JSON has it."""
    return {
        "dataset": account.dataset,
        "analyst": account.analyst,
        "limit": None if account.limit is None else _promise(account.limit),
        "spent": _promise(account.spent),
        "left": privacy_to_json(account.remaining),
        "units": [{"unit": one.column, "neighbours": one.neighbors} for one in account.units],
        "undeclared": account.undeclared,
    }


def release_to_json(release: Release) -> Json:
    """Return a release as JSON has it."""
    return {
        "row": release.row,
        "key": release.key,
        "analyst": release.analyst,
        "charged": release.at,
        "answered": release.answered,
        "privacy": _promise(release.privacy),
        "mechanisms": list(release.mechanisms),
        "asked": release.asked,
    }


def _certified(release: Release, mechanisms: dict[str, Json]) -> bool | None:
    """Tell whether the certificate that is kept of a noise proves what a release promised.

    A noise is kept once, with the certificate that it came with first: that may be for a weaker
    promise. None where there is no certificate, only a theorem, and for the answers of a plan,
    which keep their promise together. The elements of an array that one person can change are
    composed, as when the release was charged.
    """
    from leastnoise.core.basic_composition import compose_equal  # it loads the noise families

    certificate = mechanisms[release.mechanisms[0]].get("certificate")
    if certificate is None or release.asked.get("answer") == "plan":
        return None
    proved = read_privacy(certificate["privacy"])
    try:
        proved = compose_equal(proved, release.asked.get("touches", 1))
    except InvalidParameter:  # together they promise nothing
        return False
    promise = release.privacy
    return proved.epsilon <= promise.epsilon and proved.delta <= promise.delta


def _kept(account: Account) -> Privacy:
    """Return what holds of all releases: the limit; more, where it was lowered below the sum."""
    limit, spent = account.limit or Privacy(0, 0), account.spent
    return Privacy(max(limit.epsilon, spent.epsilon), max(limit.delta, spent.delta))


def _unit(account: Account, mechanisms: dict[str, Json]) -> str:
    sizes = sorted({amount(content["sensitivity"]) for content in mechanisms.values()})
    if not sizes:
        return "Nothing was released yet."
    said = ", ".join(format_exact(size) for size in sizes)
    return (
        f"{account.describe_units()} Each promise is against a change of one unit that moves the "
        f"true answer by at most Δ, a claim of whoever asked; Δ = {said}, release by release as "
        "the evidence says."
    )


def _noises(mechanisms: dict[str, Json]) -> str:
    names = sorted({str(content["noise"]) for content in mechanisms.values()})
    said = "; ".join(names) if names else "none yet"
    return (
        f"Noise by leastnoise: {said}. Drawn with {ARITHMETIC}; bits come from the operating "
        "system's generator, for arrays expanded by AES-256-CTR."
    )


def _promise(privacy: Privacy) -> Json:
    """Return a promise exactly, and as floats that do not say less."""
    return {
        **privacy_to_json(privacy),
        "epsilon_float": _number(privacy.epsilon),
        "delta_float": _number(privacy.delta),
    }


def _number(exact: Fraction) -> float | None:
    """Return the float whose shortest decimal is a number, or else one that is not below it.

    None beyond the largest float: JSON has no infinity.
    """
    near = as_float(exact)
    if math.isfinite(near) and Fraction(repr(near)) < exact:
        near = math.nextafter(near, math.inf)
    return near if math.isfinite(near) else None
