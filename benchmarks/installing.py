"""The size of an installation: the files of each package, in new environments."""

from importlib.metadata import Distribution, distributions
from pathlib import Path

from benchmarks.peers.environments import (
    PEERS,
    Missing,
    of_ourselves,
    of_peer,
    packages_of,
    pinned,
)
from benchmarks.plan import Plan
from benchmarks.progress import say
from benchmarks.timing import Row

# An environment may contain these from the start; they count if a library requires them.
TOOLS = frozenset({"pip", "setuptools"})
_MEGA = 1e6


def measure(plan: Plan) -> Row:
    """Return the megabytes of each package that leastnoise or a peer installs."""
    megabytes, omitted = {}, {}
    for name in ("leastnoise", *PEERS):
        say(f"installing: {name}")
        try:
            ours = name == "leastnoise"
            folder = (
                of_ourselves(create=plan.install) if ours else of_peer(name, create=plan.install)
            )
            tools = TOOLS if ours else TOOLS - pinned(name)
            megabytes[name] = sizes(packages_of(folder), tools)
        except Missing as reason:
            omitted[name] = str(reason)
    return {"megabytes": megabytes, "omitted": omitted}


def sizes(folder: Path, tools: frozenset[str]) -> dict[str, float]:
    """Return the megabytes of each package in a folder, without tools, the largest first."""
    packages = (
        package for package in distributions(path=[str(folder)]) if package.name not in tools
    )
    megabytes = {package.name: _bytes(package) / _MEGA for package in packages}
    ordered = sorted(megabytes.items(), key=lambda item: -item[1])
    return {name: round(size, 3) for name, size in ordered}


def _bytes(package: Distribution) -> int:
    """Return the size of the files of a package, without compiled Python files."""
    files = [Path(str(package.locate_file(file))) for file in package.files or ()]
    return sum(file.stat().st_size for file in files if file.suffix != ".pyc" and file.is_file())
