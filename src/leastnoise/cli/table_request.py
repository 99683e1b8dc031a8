"""The request of a table command: its options, checked, and the table and query they stand for."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from functools import cached_property
from os.path import exists, isfile
from typing import TYPE_CHECKING, Any, TypedDict

from leastnoise.cli import options
from leastnoise.cli.groups import parse_groups, read_lines
from leastnoise.cli.output import check_out, check_plot
from leastnoise.core.exact import quote
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.tables import TableQuery, bind_parameters, parse_params

if TYPE_CHECKING:
    from leastnoise.ledger import Ledger, Unrecorded
    from leastnoise.tables import (
        Amounts,
        Card,
        Explanation,
        ProtectedTable,
        Query,
        SelectAnswers,
        TableResult,
    )


class _Used(TypedDict):
    """The files that an output must not overwrite, and whether it may overwrite others."""

    overwrite: bool
    ledger: str | None
    witness: str | None
    read: list[str | None]


@dataclass(frozen=True, kw_only=True)
class TableRequest:
    """The arguments of a command: its ``own``, and the options that all commands share."""

    query: TableQuery
    source: str
    card: str | None
    own: Mapping[str, object]
    unit: str | None
    row_is_unit: bool
    max_rows: str | None
    neighbors: str | None
    table: str | None
    name: str | None
    version: str | None
    types: tuple[str, ...]
    delimiter: str | None
    encoding: str | None
    decimal: str | None
    by: tuple[str, ...]
    groups: tuple[str, ...]
    groups_file: str | None
    where: str | None
    params: tuple[str, ...]
    lookups: tuple[str, ...]
    max_groups: str | None
    epsilon: str | None
    delta: str | None
    share: str | None
    error: str | None
    at_most: str | None
    ledger: str | None
    unrecorded: bool
    key: str | None
    fresh: bool
    dataset: str | None
    analyst: str | None
    allocation: str | None
    witness: str | None
    allow_exact: bool
    dry_run: bool
    sql: bool
    out: str | None
    plot: str | None
    overwrite: bool
    as_json: bool

    def __post_init__(self) -> None:
        """Reject options that exclude each other, before anything is opened."""
        values = [getattr(self, field.name) for field in fields(self)]
        lists = (*self.by, *self.groups, *self.params, *self.lookups, *self.types)
        _check_encoding((*values, *self.own.values(), *lists))
        if self.unit is not None and self.row_is_unit:
            raise InvalidParameter(
                "--unit and --row-is-unit exclude each other",
                got="both",
                fix="Keep --unit if a person can have several rows, and --row-is-unit if every row "
                "is a different person.",
            )
        column = self.own.get("column")
        if self.source and isinstance(column, str) and isfile(column) and not exists(self.source):
            raise InvalidParameter(
                "SOURCE must come before COLUMN",
                got=f"{quote(self.source)} before {quote(column)}",
                fix="Swap them.",
            )
        options.check_recording(self.ledger, unrecorded=self.unrecorded)
        if self.overwrite and self.out is None and self.plot is None:
            raise InvalidParameter(
                "--overwrite needs --out or --plot", fix="Add --out FILE, or omit --overwrite."
            )
        if self.sql and not self.dry_run:
            raise InvalidParameter("--sql needs --dry-run", fix="Add --dry-run, or omit --sql.")
        if not self.dry_run:
            self._check_outputs()

    def _check_outputs(self) -> None:
        """Reject files that could not be written, before anything is charged."""
        used: _Used = {
            "overwrite": self.overwrite,
            "ledger": self.ledger,
            "witness": self.witness,
            "read": [self.source or None, self.card, self.groups_file],
        }
        if self.out is not None:
            check_out(self.out, **used)
        if self.plot is not None:
            check_plot(self.plot, **used)

    @property
    def terms(self) -> "Amounts":
        """How much the query may cost: a guarantee, a share or an error; ε and δ are 0 by default.

        The table rejects more than one of them.
        """
        typed = {"epsilon": self.epsilon, "delta": self.delta}
        stated = {name: text for name, text in typed.items() if text is not None}
        return {
            "privacy": Privacy(**stated) if stated else None,
            "share": self.share,
            "error": self.error,
            "at_most": self.at_most,
        }

    @property
    def recording(self) -> AbstractContextManager["Ledger | Unrecorded | None"]:
        """The ledger to open; for a dry run only if its limit matters, and it is given.

        None stands for the ledger of the card.
        """
        place: options.RecordingPlace = {
            "dataset": self.dataset,
            "analyst": self.analyst,
            "allocation": self.allocation,
            "witness": self.witness,
        }
        named = self.ledger is not None or self.unrecorded
        if self.card is not None and named:  # before the ledger is looked for
            from leastnoise.tables import check_given

            check_given(self._card, {"ledger": self.ledger or "none"})
        if self.card is not None and not named:
            place["analyst"] = None
            unrecorded = options.recording(None, **place)
            needed = self._card.ledger is not None or not self.dry_run
            return nullcontext() if needed else unrecorded
        limited = self.share is not None or self.error is not None
        opens = not self.dry_run or (limited and self.ledger is not None)
        return options.recording(self.ledger, **place) if opens else options.recording(None)

    @cached_property
    def _card(self) -> "Card":
        """The card, read once."""
        from leastnoise.tables import read_card  # and Ibis with it: only where a table is asked

        return read_card(str(self.card))

    def open_table(self, ledger: "Ledger | Unrecorded | None") -> "ProtectedTable":
        """Open the table; ``ledger`` is None for that of the card."""
        from leastnoise.tables import protect  # and Ibis with it: only where a table is asked

        lookups = [_split_lookup(text) for text in self.lookups]
        how: dict[str, Any] = {"max_rows": self.max_rows, "neighbors": self.neighbors}
        how |= {"name": self.name, "version": self.version}
        reading = {"table": self.table, "delimiter": self.delimiter, "encoding": self.encoding}
        reading |= {"decimal": self.decimal}
        if self.card is None and ledger is not None:
            how |= reading
            how |= {"types": _parse_types(self.types)} if self.types else {}
            opened = protect(self.source, unit=self.unit, ledger=ledger, **how)
        else:
            how |= {name: value for name, value in reading.items() if value is not None}
            how |= {"types": _parse_types(self.types)} if self.types else {}
            how |= {"unit": self.unit} if self.unit is not None or self.row_is_unit else {}
            how |= {"ledger": ledger} if ledger is not None else {"analyst": self.analyst}
            opened = protect(card=self._card, **how)
        for lookup, key in lookups:
            opened = opened.join(lookup, on=key)
        return opened

    def explain(self, table: "ProtectedTable") -> "Explanation":
        """Return the dry run."""
        return table.explain(self.make_query(table), **self.terms)

    def ask(self, table: "ProtectedTable") -> "tuple[TableResult | SelectAnswers, str]":
        """Return the answer, and the query in a few words."""
        query = self.make_query(table)
        how: dict[str, Any] = {"fresh": self.fresh, "allow_exact": self.allow_exact}
        (answer,) = table.ask([query], **self.terms, key=self.key, **how)
        return answer, query.title

    def read_groups(self, kinds: Sequence[str]) -> list[Any] | None:
        """Return the given groups, parsed by the kinds of their columns; None without any."""
        if not self.groups and self.groups_file is None:  # they are discovered
            return None
        lines = [] if self.groups_file is None else read_lines(self.groups_file)
        return parse_groups([*self.groups, *lines], kinds)

    def make_query(self, table: "ProtectedTable") -> "Query":
        """Return the query; the given groups are parsed by the kinds of their columns."""
        for name in self.by:
            if "," in name and name not in table.source.kinds:
                raise InvalidParameter(
                    "Each --by must name one column",
                    got=f"{quote(name)}, which is none",
                    fix="Repeat --by for each column: --by region --by sex.",
                )
        where = bind_parameters(self.where, parse_params(self.params))
        shared: dict[str, object] = {"by": self.by, "where": where}
        groups = self.read_groups([table.source.kind(name) for name in self.by])
        if groups is not None:
            shared["groups"] = groups
        if self.max_groups is not None:
            shared["max_groups"] = self.max_groups
        query: Query = self.query.load()(**self.query.fixed, **self.own, **shared)
        return query


def _split_lookup(text: str) -> tuple[str, str]:
    """Return the table of a lookup and its key."""
    table, _, key = text.rpartition(":")
    if table and key:
        return table, key
    raise InvalidParameter(
        "--lookup must name a table and its key",
        got=quote(text),
        fix="Write, for example, --lookup regions.csv:region_id.",
    )


def _parse_types(texts: Sequence[str]) -> dict[str, str]:
    """Return the type of each converted column; a name may contain equal signs."""
    types = dict[str, str]()
    for text in texts:
        column, equals, type_ = text.rpartition("=")
        if not equals or column in types:
            raise InvalidParameter(
                "--type must be NAME=TYPE, once for each column",
                got=quote(text),
                fix="Write, for example, --type Month=integer --type Joined=date.",
            )
        types[column] = type_
    return types


def _check_encoding(texts: Sequence[object]) -> None:
    """Reject bytes that are not text, because ledgers, queries and JSON cannot hold them."""
    for text in texts:
        try:
            if isinstance(text, str):
                text.encode()
        except UnicodeEncodeError:
            raise InvalidParameter(
                "arguments must be text in the encoding of the system",
                got="bytes that are not",
                fix="Rename the file, or set the encoding (LC_ALL).",
            ) from None
