"""The entries of the built-in table queries: arguments, help and examples of their commands."""

from collections.abc import Sequence
from dataclasses import replace

from leastnoise.core.exact import Number
from leastnoise.tables.table_query import Argument, Bounds, ColumnName, Counted, TableQuery

_COLUMN = Argument("column", ColumnName, positional=True, metavar="COLUMN", example="income")
_BOUNDS = Argument(
    "bounds",
    Bounds | None,
    default=None,
    values=2,
    metavar="LOW HIGH",
    help="Clipping bounds of values. Choose them without looking at the table.  [required, or "
    "--card]",
    example="0 150000",
    from_card=True,
)
_BINS = Argument(
    "bins",
    int,
    default=1024,
    metavar="N",
    help="Number of bins between the bounds; the answer is one of them.",
    renamed_from="cells",
)
_INTERVAL = Argument(
    "interval",
    Number | None,
    default=None,
    metavar="CONFIDENCE",
    help="Also find an interval with this confidence, such as 0.95. It uses two thirds of ε.",
)
_Q = Argument(
    "q",
    Number,
    positional=True,
    metavar="Q",
    help="Share of rows below the value, above 0 and below 1; 0.5 is the median.",
    example="0.9",
    renamed_from="share",
)
_NO_COMMAS = (
    "edges must be two or more numbers separated by commas, without blanks",
    "Write, for example, --edges 0,18,65,120.",
)
_EDGES = Argument(
    "edges",
    Sequence[Number] | None,
    default=None,
    metavar="A,B,…",
    unless_listed=_NO_COMMAS,
    help="Edges of the ranges. Ranges are [low, high), the last is [low, high].  "
    "[required, or --card]",
    example="0,20000,50000,150000",
    from_card=True,
)
_BINS_ONLY = replace(_BINS, renamed_from=None)
_SEARCHED = replace(
    _BOUNDS,
    help="Range in which bounds are searched. Default: the bounds of the card, else ±2⁵³.",
    from_card=False,
    example="",
)
_OF = Argument(
    "of",
    Counted,
    default="rows",
    metavar="rows|units",
    help="What to count. With units, each unit counts once per group, and --max-rows is not "
    "required.",
)
_PERSON = "--unit person_id --max-rows 1"
_LEDGER = "--ledger people.ledger"
_SPREAD = (
    "A count, a sum and a sum of squares are released. Rows without a value are omitted. In a unit "
    "with more than --max-rows rows, each row has the weight --max-rows/rows."
)
_EXTREME = (
    "The {word} itself is the value of one row and cannot be private. The answer is a bin, with a "
    "bound on the number of rows {beyond} it. Rows without a value are omitted."
)
_RANK = "Rows without a value are omitted. The answer is a bin, with a bound on its rank error."

BUILT_IN = (
    TableQuery(
        name="count",
        query_class="leastnoise.tables.queries.count:Count",
        help="Count rows or people.",
        notes="With --of units, it counts units instead of rows.",
        examples=(
            f"people.csv {_PERSON} --by region --max-groups 1 --epsilon 0.2 --delta 1e-7 {_LEDGER}",
            f'people.csv {_PERSON} --where "age >= 18" --epsilon 0.2 --dry-run',
            f"people.csv --unit person_id --of units --epsilon 0.2 {_LEDGER}",
        ),
        arguments=(_OF,),
    ),
    TableQuery(
        name="sum",
        query_class="leastnoise.tables.queries.sum:Sum",
        help="Sum a column.",
        notes="Missing values add 0. The total of a unit's rows is clipped to --max-rows times "
        "the bounds, extended to include 0.",
        examples=(
            "people.csv income --bounds 0 150000 --unit person_id --max-rows 2 --epsilon 0.5 "
            + _LEDGER,
        ),
        arguments=(_COLUMN, _BOUNDS),
    ),
    TableQuery(
        name="mean",
        query_class="leastnoise.tables.queries.mean:Mean",
        help="Average a column.",
        notes="A count and a sum are released; --json has both. Rows without a value are omitted. "
        "A unit with more than --max-rows rows counts as that many rows, each holding its average "
        "value.",
        examples=(
            f"people.csv income --bounds 0 150000 {_PERSON} --by sex --group f --group m "
            f"--max-groups 1 --epsilon 0.5 {_LEDGER}",
        ),
        arguments=(_COLUMN, _BOUNDS),
    ),
    TableQuery(
        name="variance",
        query_class="leastnoise.tables.queries.variance:Variance",
        help="Compute the population variance of a column.",
        notes=f"It divides by the number of rows, as SQL's VAR_POP. {_SPREAD}",
        examples=(f"people.csv income --bounds 0 150000 {_PERSON} --epsilon 0.5 {_LEDGER}",),
        arguments=(_COLUMN, _BOUNDS),
    ),
    TableQuery(
        name="std",
        query_class="leastnoise.tables.queries.variance:Std",
        help="Compute the population standard deviation of a column.",
        notes=f"It divides by the number of rows, as SQL's STDDEV_POP. {_SPREAD}",
        examples=(
            f"people.csv income --bounds 0 150000 {_PERSON} --by sex --group f --group m "
            f"--max-groups 1 --epsilon 0.5 {_LEDGER}",
        ),
        arguments=(_COLUMN, _BOUNDS),
    ),
    TableQuery(
        name="clipped_share",
        query_class="leastnoise.tables.queries.clipped_share:ClippedShare",
        help="Find the share of values that bounds clip.",
        notes="A large share means that the bounds are too tight. It costs budget, as every query "
        "does. Rows without a value are omitted. A unit with more than --max-rows rows counts as "
        "that many rows, each holding the share of its values.",
        examples=(f"people.csv income --bounds 0 150000 {_PERSON} --epsilon 0.1 {_LEDGER}",),
        arguments=(_COLUMN, _BOUNDS),
    ),
    TableQuery(
        name="median",
        query_class="leastnoise.tables.queries.quantile:Quantile",
        help="Find the median of a column.",
        notes=f"{_RANK} Other quantiles: leastnoise quantile.",
        examples=(
            f"people.csv income --bounds 0 150000 --bins 150 {_PERSON} "
            f'--where "age >= 18" --epsilon 0.5 {_LEDGER}',
        ),
        arguments=(_COLUMN, _BOUNDS, _BINS, _INTERVAL),
        fixed={"q": "1/2"},
    ),
    TableQuery(
        name="quantile",
        query_class="leastnoise.tables.queries.quantile:Quantile",
        help="Find any quantile of a column.",
        notes=_RANK,
        examples=(
            f"people.csv income --q 0.9 --bounds 0 150000 --bins 150 {_PERSON} --epsilon 0.5 "
            + _LEDGER,
        ),
        arguments=(_COLUMN, _Q, _BOUNDS, _BINS, _INTERVAL),
        on_more=(
            "There are more arguments than SOURCE and COLUMN; q is an option",
            "Write, for example, --q 0.9.",
        ),
    ),
    TableQuery(
        name="min",
        query_class="leastnoise.tables.queries.extreme:Min",
        help="Find the approximate minimum of a column.",
        notes=_EXTREME.format(word="minimum", beyond="below"),
        examples=(f"people.csv age --bounds 0 120 --bins 120 {_PERSON} --epsilon 0.5 {_LEDGER}",),
        arguments=(_COLUMN, _BOUNDS, _BINS_ONLY),
    ),
    TableQuery(
        name="max",
        query_class="leastnoise.tables.queries.extreme:Max",
        help="Find the approximate maximum of a column.",
        notes=_EXTREME.format(word="maximum", beyond="above"),
        examples=(f"people.csv age --bounds 0 120 --bins 120 {_PERSON} --epsilon 0.5 {_LEDGER}",),
        arguments=(_COLUMN, _BOUNDS, _BINS_ONLY),
    ),
    TableQuery(
        name="estimate_bounds",
        query_class="leastnoise.tables.queries.estimate_bounds:EstimateBounds",
        help="Find clipping bounds of a column.",
        notes="The bounds are round numbers, with a bound on the number of rows outside them. Rows "
        "without a value are omitted.",
        examples=(f"people.csv income {_PERSON} --epsilon 0.2 {_LEDGER}",),
        arguments=(_COLUMN, _SEARCHED),
    ),
    TableQuery(
        name="histogram",
        query_class="leastnoise.tables.queries.histogram:Histogram",
        help="Count rows per range of a column.",
        notes="Rows outside all ranges, or without a value, are omitted. Ranges are [low, high), "
        "the last is [low, high].",
        examples=(
            f"people.csv age --edges 0,18,65,120 {_PERSON} --max-groups 1 --epsilon 0.5 {_LEDGER}",
        ),
        arguments=(_COLUMN, _EDGES),
        on_more=_NO_COMMAS,
        groups_itself=True,
    ),
)
