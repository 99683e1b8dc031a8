"""``Ledger``: a durable privacy budget that processes share and cannot overspend."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from uuid import uuid4

from leastnoise.core.exact import Number, parse_positive, quote
from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.core.sampling import SYSTEM
from leastnoise.deprecation import RenamedAttribute
from leastnoise.errors import InvalidParameter, Words
from leastnoise.ledger.accounts import Account, Accounts, Name
from leastnoise.ledger.audit import check_charge
from leastnoise.ledger.chain import Chain, Draft, keyed
from leastnoise.ledger.declaration import declare
from leastnoise.ledger.entries import Receipt, Release, Spending, Stored, check_name, releases_of
from leastnoise.ledger.rows import (
    ANSWER,
    CHARGE,
    LIMIT,
    MECHANISM,
    OPENED,
    Head,
    Json,
    Row,
    digest_of,
    limit_key,
    mechanism_key,
    privacy_to_json,
    read_privacy,
)
from leastnoise.ledger.stores import Page, check_address, open_store
from leastnoise.ledger.units import read_unit
from leastnoise.ledger.witness import read_head, read_witness

_USUAL = "data"
# What a key stands for, and where a charge says it.
_QUESTION = {
    "guarantee": ("epsilon", "delta"),
    "mechanism": ("mechanisms",),
    "query": ("asked",),
}
_CREATE_DATASET = Words("pass limit=…", "use leastnoise ledger create FILE --dataset …")
_LONGEST_WAIT = Fraction(10**6)  # seconds: databases count milliseconds in 32 bits


class Ledger:
    """What has been spent of a limit, on disk: shared by processes, never overspent.

    A release is charged, and the charge on disk, before noise is drawn; its answer is on disk
    before it leaves. Under the same key the stored answer comes back and nothing is charged. The
    rows are chained by hashes; nothing is released from a broken chain. Sums are exact.

    Opening takes the same time for any number of rows. Before the first release the whole chain is
    checked, once for each ``Ledger``, which takes time in proportion to its rows.

    Args:
        where: The path of a file, which is made if there is none, or
            ``"postgresql://user@host/database"`` for a team.
        limit: What may be spent of the data set altogether. A new ledger, or data set, must have
            one; later it may be left out, and must be the same if it is said.
        dataset: The name of the data set; one ledger can hold several, each with a limit of its
            own. Left out, it is the one that the ledger was begun with, ``"data"`` for a new one.
        analyst: Who asks. What each analyst spends is summed up, too.
        analyst_limit: What this analyst may spend of the data set.
        witness: A head that the chain must hold (:attr:`Receipt.head`), or the path of a file in
            which heads are noted, to be kept where the ledger is not. Without one, a ledger that is
            put back as it was cannot be noticed.
        timeout: For how many seconds to wait for other processes.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger(f"{folder.name}/people.ledger", limit=Privacy(epsilon=1))
    >>> ledger.remaining
    Privacy(epsilon=1, delta=0)
    >>> ledger.close()
    >>> folder.cleanup()
    """

    left = RenamedAttribute[Privacy]("remaining")
    mine = RenamedAttribute[Account]("analyst_account")
    allow = RenamedAttribute[Callable[..., None]]("set_limit")

    def __init__(
        self,
        where: str | os.PathLike[str],
        *,
        limit: Privacy | None = None,
        dataset: str | None = None,
        analyst: str | None = None,
        analyst_limit: Privacy | None = None,
        witness: str | os.PathLike[str] | Head | None = None,
        timeout: Number = 10,
    ) -> None:
        """Open a ledger, or begin one."""
        self.where = check_address(where)
        self.analyst = None if analyst is None else check_name(analyst, "An analyst")
        if analyst_limit is not None and analyst is None:
            raise InvalidParameter(
                "analyst_limit needs an analyst", fix="Pass analyst='ann', for example."
            )
        chosen = None if dataset is None else check_name(dataset, "A dataset")
        whole, own = _limit(limit), _limit(analyst_limit)
        witnessed = read_witness(witness)
        waiting = float(min(parse_positive(timeout, "timeout"), _LONGEST_WAIT))
        store = open_store(self.where, timeout=waiting, create=whole is not None)
        self._chain = Chain(store, witnessed)
        try:
            self.dataset = self._open(chosen, whole, own)
        except BaseException:
            self._chain.close()
            raise

    @property
    def account(self) -> Account:
        """What may be spent of the data set, and was."""
        with self._chain.reading() as page:
            return page.accounts.account(self.dataset)

    @property
    def limit(self) -> Privacy:
        """What may be spent of the data set altogether."""
        limit = self.account.limit
        assert limit is not None  # noqa: S101 -- for mypy: a data set without one is refused
        return limit

    @property
    def spent(self) -> Privacy:
        """What was spent of the data set."""
        return self.account.spent

    @property
    def remaining(self) -> Privacy:
        """What may still be spent of the data set."""
        return self.account.remaining

    @property
    def analyst_account(self) -> Account:
        """What the analyst may spend, and did; without an analyst, what all may."""
        with self._chain.reading() as page:
            return page.accounts.account(self.dataset, self.analyst)

    @property
    def accounts(self) -> list[Account]:
        """Every account of the ledger: the data sets', and their analysts'."""
        with self._chain.reading() as page:
            return page.accounts.all()

    @property
    def releases(self) -> list[Release]:
        """Every release from any data set of the ledger, in the order of their charges."""
        return releases_of(self.rows())

    @property
    def head(self) -> Head:
        """The chain's head: keep it elsewhere to tell an older copy later."""
        with self._chain.reading() as page:
            return page.accounts.head

    def rows(self) -> Iterator[Row]:
        """Go through all rows, each checked before it is given out."""
        return self._chain.rows()

    def verify(self, head: str | Head | None = None) -> Head:
        """Check the whole chain again, and the database; return its head.

        Args:
            head: A head of which the chain must be a continuation, as an answer carries it.

        Raises:
            LedgerDamaged: If anything was changed, or the chain does not hold the head.
        """
        return self._chain.verify([] if head is None else [read_head(str(head))])

    def export(self, *, unit: str | None = None) -> Json:
        """Return a deployment declaration of the data set, for JSON: what was promised, and how.

        Args:
            unit: Whose presence is protected, such as ``"person"``: the ledger knows columns only.
        """
        said = None if unit is None else check_name(unit, "A privacy unit")
        return declare(self.rows(), self.dataset, said)

    def set_limit(self, limit: Privacy, *, analyst: str | None = None) -> None:
        """Set a new limit, of the data set or of one analyst of it; the old one stays on record."""
        if not isinstance(limit, Privacy):
            raise _no_limit(limit)
        name = self.dataset, None if analyst is None else check_name(analyst, "An analyst")
        with self._chain.writing() as page:
            page.write(LIMIT, limit_key(*name), _limit_body(name, limit))

    def charge(self, spending: Spending, key: str | None = None, *, fresh: bool = False) -> Receipt:
        """Charge a release before it is drawn; on disk when this returns.

        What was charged under the same key before, for whichever analyst, is not charged again,
        unless ``fresh``: its answer, if there is one, is :meth:`stored`. Without a key the release
        gets one of its own. Each data set has keys of its own.

        Raises:
            BudgetExceeded: If a limit would be passed; nothing is charged.
            InvalidParameter: If the key was used for something else, or the dataset has charges
                under another neighbor relation; nothing is charged.
        """
        return self.charge_or_recall(spending, key, fresh=fresh)[0]

    def charge_or_recall(
        self, spending: Spending, key: str | None = None, *, fresh: bool = False
    ) -> tuple[Receipt, Stored | None]:
        """Charge as :meth:`charge` does; return the answer, too, if the charge has one already."""
        # Two releases under one key would be one answer: so the bits of a key are checked, too.
        key = f"{SYSTEM.word(128):032x}" if key is None else check_name(key, "A key")
        body = {
            "dataset": self.dataset,
            "analyst": self.analyst,
            **privacy_to_json(spending.privacy),
            "mechanisms": list(spending.mechanisms),
            "asked": spending.asked,
        }
        check_charge(body)
        with self._chain.writing() as page:
            charged = [
                row for row in page.of(key, CHARGE) if row.content["dataset"] == self.dataset
            ]
            for row in charged:
                _same_question(key, row.content, body, spending.formerly)
            if charged and not fresh:
                receipt = self._receipt(charged[-1], page.accounts, reused=True)
                return receipt, _answer(page, receipt)
            page.accounts.check_relation(self.dataset, read_unit(spending.asked))
            page.accounts.refuse(self.dataset, self.analyst, spending.privacy)
            for digest, mechanism in spending.mechanisms.items():
                described_at = mechanism_key(digest)
                if described_at not in page.accounts.mechanisms:
                    _check_description(digest, mechanism)
                    page.write(MECHANISM, described_at, mechanism)
            return self._receipt(page.write(CHARGE, key, body), page.accounts, reused=False), None

    def stored(self, receipt: Receipt) -> Stored | None:
        """Return the answer of a charge, if it was stored."""
        with self._chain.reading() as page:
            return _answer(page, receipt)

    def store(self, receipt: Receipt, content: Json, payload: bytes = b"") -> Stored:
        """Store the answer of a charge; on disk when this returns.

        If another process has stored one meanwhile, that is the answer, and this one is forgotten.
        """
        with self._chain.writing() as page:
            before = _answer(page, receipt)
            if before is not None:
                return before
            body = {"charge": receipt.charge, "answer": content}
            row = page.write(ANSWER, receipt.key, body, payload)
            found = replace(receipt, head=row.head, at=row.at, reused=False)
            return Stored(found, content, payload)

    def close(self) -> None:
        """Let go of the database."""
        self._chain.close()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        """Name it; a connection string can hold a password, so only its kind is told."""
        where = "postgresql://…" if "://" in self.where else self.where
        who = "" if self.analyst is None else f", analyst={self.analyst!r}"
        return f"Ledger({where!r}, dataset={self.dataset!r}{who})"

    def _open(self, chosen: str | None, whole: Privacy | None, own: Privacy | None) -> str:
        """Begin a ledger or an account with its limit; refuse another than it has.

        Return the data set.
        """
        with self._chain.peeking() as page:
            first = begun_with(page)
            dataset = chosen or first or _USUAL
            limits: dict[Name, Privacy | None] = {(dataset, None): whole}
            if self.analyst is not None:
                limits[dataset, self.analyst] = own
            had = {name: _last_limit(page, name) for name in limits}
        for name, limit in limits.items():
            _same(limit, had[name])
        if had[dataset, None] is None and whole is None:
            self._chain.verify([])  # in a damaged ledger the row of its limit may be hidden
            there = "" if first is None else f" (its first is {first!r})"
            raise InvalidParameter(
                f"This ledger has no dataset {dataset!r}{there}",
                fix="Check the name. To add a dataset about different people, "
                + _CREATE_DATASET
                + "; for the same people it would be a second budget.",
            )
        new = {name: limit for name, limit in limits.items() if limit and had[name] is None}
        if new:
            self._begin(new)
        return dataset

    def _begin(self, limits: dict[Name, Privacy]) -> None:
        """Write the first limits of accounts, and the first row of all; others may try at once."""
        with self._chain.writing() as page:
            if not page.accounts.head.seq:
                page.write(OPENED, "", {"id": uuid4().hex})
            for name, limit in limits.items():
                key = limit_key(*name)
                if page.of(key, LIMIT):
                    _same(limit, page.accounts.account(*name).limit)
                else:
                    page.write(LIMIT, key, _limit_body(name, limit))

    def _receipt(self, row: Row, known: Accounts, *, reused: bool) -> Receipt:
        return Receipt(row.key, row.seq, row.head, row.at, reused, known.account(self.dataset))


def _answer(page: Draft, receipt: Receipt) -> Stored | None:
    for row in page.of(receipt.key, ANSWER):
        content = row.content
        if content["charge"] == receipt.charge:
            found = replace(receipt, head=row.head, at=row.at, reused=True)
            return Stored(found, content["answer"], row.payload)
    return None


def _check_description(digest: str, mechanism: Json) -> None:
    """Reject a description that could not be verified later."""
    with suppress(ArithmeticError, AttributeError, LookupError, ValueError):
        if digest_of(mechanism) == digest:
            return
    raise InvalidParameter(
        "A mechanism in a ledger must be described by its noise, under the digest of that",
        got="another description",
        fix="Charge what mechanism.spending() returns.",
    )


def _limit(limit: object) -> Privacy | None:
    if limit is None or isinstance(limit, Privacy):
        return limit
    raise _no_limit(limit)


def _no_limit(limit: object) -> InvalidParameter:
    return InvalidParameter(
        "limit must be a Privacy",
        got=quote(limit),
        fix="Write Privacy(epsilon=1, delta='1e-6'), for example.",
    )


def _last_limit(page: Page, name: Name) -> Privacy | None:
    rows = keyed(page, limit_key(*name), LIMIT)
    return read_privacy(rows[-1].content) if rows else None


def _same(wanted: Privacy | None, had: Privacy | None) -> None:
    """Refuse a limit that is not the one on record."""
    if wanted is not None and had is not None and wanted != had:
        raise InvalidParameter(
            f"The limit of this ledger is {format_guarantee(had)}",
            got=format_guarantee(wanted),
            fix="To change it, use "
            + Words("set_limit()", "leastnoise ledger set-limit FILE")
            + ".",
        )


def _limit_body(name: Name, limit: Privacy) -> Json:
    return {"dataset": name[0], "analyst": name[1], **privacy_to_json(limit)}


def _same_question(key: str, before: Json, now: Json, formerly: Json | None) -> None:
    """Reject a key that was used for something else; who asked does not matter."""
    if formerly is not None and before["asked"] == formerly:
        now = {**now, "asked": formerly}
    different = [
        what for what, parts in _QUESTION.items() if any(before[p] != now[p] for p in parts)
    ]
    if different == ["query"] and _same_but_data(before["asked"], now["asked"]):
        had, got = _data(before["asked"]), _data(now["asked"])
        raise InvalidParameter(
            f"The key {key!r} was used for {had}",
            got=f"{got} with other columns or filters" if got == had else got,
            fix="Choose another key. Without one, every table has a key of its own.",
        )
    if different:
        raise InvalidParameter(
            f"The key {key!r} was used for another {' and '.join(different)}",
            fix="Choose another key.",
        )


# The words about which data a question to a table is. Versions are written since 0.6.0.
_DATA = ("of", "table", "version")


def _same_but_data(before: Json, now: Json) -> bool:
    """Return whether two questions are one question to different tables."""
    both = before.keys() | now.keys()
    return "table" in before and all(
        word in _DATA or before.get(word) == now.get(word) for word in both
    )


def _data(asked: Json) -> str:
    version = asked.get("version")
    return f"{asked.get('of')!r}" + (f" (version {version!r})" if version else "")


def begun_with(page: Page) -> str | None:
    """Return the data set of the first limit that a page holds; None if there is none."""
    first = next((row for row in page.rows(0) if row.kind == LIMIT), None)
    # Its key has the name behind two separators, whatever became of its body.
    parts = [] if first is None else first.key.split("\x1f")
    return parts[2] if len(parts) > 2 else None
