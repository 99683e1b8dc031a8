"""The privacy units that charges declare, which a sum of charges protects.

The charge of a table query stores the column of units, or that every row is a unit, and the
neighbor relation. A release by a mechanism alone declares neither: its guarantee is relative to the
sensitivity that its caller gave, so it is compatible with every unit and relation.

Guarantees add up under one neighbor relation. A ledger therefore accepts one for each dataset. Up
to 0.5.0 it accepted both. The total of such charges is an add-remove guarantee: a replace-one
guarantee of a table includes that another unit without rows takes the place, which is a removal
(tables/bounding/sensitivity.py). It is no replace-one guarantee.
"""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from leastnoise.errors import InvalidParameter, Words

# The neighbor relations as charges store them, and in words.
_ADD_REMOVE: Final = "add_remove"
_RELATIONS: Final = {_ADD_REMOVE: "add-remove", "replace": "replace-one"}
_MEANINGS: Final = {
    _ADD_REMOVE: "Neighboring datasets differ by adding or removing one unit (add-remove).",
    "replace": "Neighboring datasets differ by replacing one unit by another, or by none "
    "(replace-one).",
}


class DeclaredUnit(NamedTuple):
    """The privacy unit that a charge declares.

    Attributes:
        column: The column whose values are the units; None if every row is a unit.
        neighbors: Which tables are neighboring, ``"add_remove"`` or ``"replace"``.
    """

    column: str | None
    neighbors: str

    def __str__(self) -> str:
        return "a row" if self.column is None else f"a value of {self.column!r}"

    def name_one(self) -> str:
        """Return the words for one unit."""
        return "one row" if self.column is None else f"one value of {self.column!r}"


def read_unit(query: dict[str, Any]) -> DeclaredUnit | None:
    """Return the unit that a charge declares, None for a release without a table.

    Raises:
        ValueError: Or a LookupError, if no ledger writes such a declaration.
    """
    if query.get("answer") != "tables":
        return None
    column, neighbors = query["unit"], query["neighbours"]
    if not (column is None or type(column) is str) or type(neighbors) is not str:
        raise ValueError
    if neighbors not in _RELATIONS:
        raise ValueError
    return DeclaredUnit(column, neighbors)


def sort_units(units: Iterable[DeclaredUnit | None]) -> tuple[DeclaredUnit, ...]:
    """Return the declared units in one order, columns by name before rows."""
    declared = (unit for unit in units if unit is not None)
    return tuple(sorted(declared, key=lambda unit: (unit.column is None, unit[0] or "", unit[1])))


def find_relation(units: Iterable[DeclaredUnit | None]) -> str | None:
    """Return the relation under which a total is a guarantee; None if no charge declares one."""
    relations = {unit.neighbors for unit in units if unit is not None}
    return _ADD_REMOVE if len(relations) > 1 else next(iter(relations), None)


def is_mixed(units: Iterable[DeclaredUnit | None]) -> bool:
    """Return whether charges declare both neighbor relations."""
    return len({unit.neighbors for unit in units if unit is not None}) > 1


def check_relation(
    dataset: str, units: Iterable[DeclaredUnit | None], unit: DeclaredUnit | None
) -> None:
    """Reject a charge under another neighbor relation than the dataset has."""
    relation = find_relation(units)
    if unit is None or relation is None or unit.neighbors == relation:
        return
    raise InvalidParameter(
        f"Dataset {dataset!r} has the neighbor relation {_RELATIONS[relation]}",
        got=f"a query with {_RELATIONS[unit.neighbors]}; nothing was charged",
        fix="Pass "
        + Words(f"neighbors={relation!r}", f"--neighbors {relation}")
        + ", or use another dataset, "
        + Words("Ledger(…, dataset=…)", "--dataset")
        + ". For the same people, both budgets add up.",
    )


def describe_units(
    units: tuple[DeclaredUnit, ...], *, undeclared: bool, brief: bool = False
) -> str:
    """Return sentences about the privacy unit that the total of charges protects.

    Args:
        units: The units that charges declare.
        undeclared: Whether there are charges that declare none.
        brief: Whether the text follows a label. Default: False.
    """
    names = list(dict.fromkeys(map(str, units)))
    if not names and not undeclared:
        return "Not yet declared." if brief else "No charge has declared a privacy unit yet."
    if not names:
        return _UNDECLARED
    if len(names) == 1 and brief:
        sentences = [f"Covers one privacy unit: {units[0].name_one()}."]
    elif len(names) == 1:
        sentences = [f"The total is a guarantee for one privacy unit: {names[0]}."]
    else:
        sentences = [
            f"The charges declare different privacy units: {'; '.join(names)}. The total is a "
            "guarantee for a privacy unit that is covered by each of them."
        ]
    relation = find_relation(units)
    if is_mixed(units):
        sentences.append(_MIXED)
    elif relation is not None:
        sentences.append(_MEANINGS[relation])
    return " ".join([*sentences, *[_PARTLY_UNDECLARED] * undeclared])


_UNDECLARED = (
    "No charge declares a privacy unit: the total is a guarantee for a unit that changes each true "
    "answer by at most the sensitivity that was given for it."
)
_PARTLY_UNDECLARED = (
    "Some charges declare no unit: they cover a unit that changes each of their true answers by at "
    "most the sensitivity that was given."
)
_MIXED = (
    "The charges declare both neighbor relations, add-remove and replace-one. The total is a "
    "guarantee for adding or removing one unit, and not for replacing one."
)
