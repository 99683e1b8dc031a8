"""The size of a run."""

from dataclasses import dataclass

Guarantees = tuple[tuple[str, str], ...]

GUARANTEES: Guarantees = (("1", "0"), ("1", "1e-6"), ("0.1", "1e-6"), ("0", "0.1"), ("2", "0.05"))


@dataclass(frozen=True)
class Plan:
    """The size of a run.

    Attributes:
        name: The name of the run in its results.
        rounds: The number of runs of each contestant.
        size: The number of elements of a released array.
        single: The number of single numbers released in a round.
        peer_seconds: The approximate seconds of a peer in one round.
        moment_seconds: The seconds for which a peer samples, to estimate moments without a formula.
        install: Whether to create missing environments.
        alone: Whether to omit other libraries even if they are installed.
        epsilons: The values of ε in the grid of solves.
        deltas: The values of δ in the grid of solves.
        costs: The costs in the grid of solves.
        seconds: The time limit of one solve, in seconds.
        guarantees: The guarantees for which accuracy is compared.
        sizes: The numbers of samples for time and memory, as powers of ten.
        exponents: The values of 1/δ, as powers of ten.
        gaps: The gaps of the solves for growth with m.
        charges: The number of charges to a ledger in a round.
        rows: The number of rows of the ledger that is opened and verified.
        table: The number of rows of the queried table.
        tables: The numbers of rows for time and memory, as powers of ten.
        spark: The same for Spark.
    """

    name: str
    rounds: int
    size: int
    single: int
    peer_seconds: float
    moment_seconds: float
    install: bool
    alone: bool
    epsilons: tuple[str, ...]
    deltas: tuple[str, ...]
    costs: tuple[str, ...]
    seconds: float
    guarantees: Guarantees
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
    moment_seconds=6,
    install=True,
    alone=False,
    epsilons=("0", "0.1", "0.5", "1", "2", "4"),
    deltas=("0", "1e-9", "1e-6", "1e-3", "0.05", "0.3", "0.5", "0.9"),
    costs=("l1", "l2", "l4", "threshold"),
    seconds=25,
    guarantees=GUARANTEES,
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
    moment_seconds=1.5,
    install=True,
    alone=False,
    epsilons=("1",),
    deltas=FULL.deltas,
    costs=FULL.costs,
    seconds=10,
    guarantees=GUARANTEES,
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
    moment_seconds=0.05,
    install=False,
    alone=False,
    epsilons=("0", "2"),
    deltas=("0.05",),
    costs=("l1", "l2"),
    seconds=1,
    guarantees=(("1", "0"), ("2", "0.05")),
    sizes=(3, 4),
    exponents=(1, 6),
    gaps=("0.01", "0.002"),
    charges=5,
    rows=1000,
    table=1000,
    tables=(),
    spark=(),
)
