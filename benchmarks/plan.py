"""How much is measured."""

from dataclasses import dataclass

Promises = tuple[tuple[str, str], ...]

PROMISES: Promises = (("1", "0"), ("1", "1e-6"), ("0.1", "1e-6"), ("0", "0.1"), ("2", "0.05"))


@dataclass(frozen=True)
class Plan:
    """How much a run measures.

    Attributes:
        name: What the run is called in its results.
        rounds: How often each contestant runs.
        size: Elements of an array that is released.
        single: Single numbers released in a round.
        peer_seconds: About how long a peer draws in one round.
        law_seconds: How long a peer draws to tell moments that it does not state.
        install: Whether environments that are missing are made.
        alone: Whether other libraries are left out even where they are there.
        epsilons: Rows of the grid of solves; ``deltas`` and ``costs`` are its columns.
        seconds: How long one solve may take.
        promises: Promises at which accuracy is compared.
        sizes: Powers of ten of the draws whose time and memory is measured.
        exponents: Powers of ten of 1/δ.
        gaps: How near to the least the solves come whose m is read off.
        charges: Charges to a ledger in a round.
        rows: Rows of the ledger that is opened and verified.
        table: Rows of the table that is asked.
        tables: Powers of ten of the tables whose time and memory is measured.
        spark: The same on Spark.
    """

    name: str
    rounds: int
    size: int
    single: int
    peer_seconds: float
    law_seconds: float
    install: bool
    alone: bool
    epsilons: tuple[str, ...]
    deltas: tuple[str, ...]
    costs: tuple[str, ...]
    seconds: float
    promises: Promises
    sizes: tuple[int, ...]
    exponents: tuple[int, ...]
    gaps: tuple[str, ...]
    charges: int
    rows: int
    table: int
    tables: tuple[int, ...]
    spark: tuple[int, ...]


FULL = Plan(
    name="full",
    rounds=21,
    size=5_000_000,
    single=1000,
    peer_seconds=0.1,
    law_seconds=6,
    install=True,
    alone=False,
    epsilons=("0", "0.1", "0.5", "1", "2", "4"),
    deltas=("0", "1e-9", "1e-6", "1e-3", "0.05", "0.3", "0.5", "0.9"),
    costs=("l1", "l2", "l4", "threshold"),
    seconds=25,
    promises=PROMISES,
    sizes=(3, 4, 5, 6, 7, 8),
    exponents=(1, 2, 3, 6, 9, 12, 30, 100, 300),
    gaps=("0.01", "0.003", "0.001", "0.0003", "0.0001", "0.00003"),
    charges=100,
    rows=1_000_000,
    table=10_000_000,
    tables=(6, 7, 8),
    spark=(6, 7),
)
SHORT = Plan(
    name="short",
    rounds=5,
    size=2_000_000,
    single=300,
    peer_seconds=0.05,
    law_seconds=1.5,
    install=True,
    alone=False,
    epsilons=("1",),
    deltas=FULL.deltas,
    costs=FULL.costs,
    seconds=10,
    promises=PROMISES,
    sizes=(3, 4, 5, 6, 7),
    exponents=(1, 3, 6, 12, 100, 300),
    gaps=("0.01", "0.003", "0.001", "0.0003", "0.0001"),
    charges=100,
    rows=100_000,
    table=1_000_000,
    tables=(5, 6),
    spark=(5, 6),
)
QUICK = Plan(
    name="quick",
    rounds=2,
    size=20_000,
    single=20,
    peer_seconds=0.01,
    law_seconds=0.05,
    install=False,
    alone=False,
    epsilons=("0", "2"),
    deltas=("0.05",),
    costs=("l1", "l2"),
    seconds=1,
    promises=(("1", "0"), ("2", "0.05")),
    sizes=(3, 4),
    exponents=(1, 6),
    gaps=("0.01", "0.002"),
    charges=5,
    rows=1000,
    table=1000,
    tables=(),
    spark=(),
)
