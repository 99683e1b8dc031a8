"""The documents say what is: commands, versions, exports, links, and nothing of one machine."""

import inspect
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import leastnoise

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
HEAVY = {"altair", "click", "cryptography", "flint", "numpy", "scipy"}


def output(*command: str) -> str:
    """Return what a command prints in the checkout; it must succeed."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout


def console(text: str) -> list[tuple[str, str]]:
    """Return each command of the console blocks of a document with the output below it."""
    blocks = re.findall(r"(?ms)^```console\n(.*?)^```$", text)
    shown = [re.split(r"(?m)^\$ ", block) for block in blocks]
    assert all(start == "" for start, *_ in shown), "a console block begins with a command"
    parts = [part.partition("\n") for _, *block in shown for part in block]
    return [(command, printed) for command, _, printed in parts]


SHOWN = [
    pytest.param(command, printed, id=f"{document.name}: {command}")
    for document in DOCUMENTS
    for command, printed in console(document.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("command", "printed"), SHOWN)
def test_a_command_in_a_document_does_what_it_shows(command: str, printed: str) -> None:
    """Ours print exactly what stands below them; those of `go` exist and show no output."""
    words = shlex.split(command, comments=True)
    if words[:2] == ["python3", "go"]:
        assert output(sys.executable, "go", *words[2:], "--help").startswith("usage: go ")
        assert printed == ""
    else:
        assert words[0] == "leastnoise", "only commands that are checked here may be shown"
        assert output(sys.executable, "-m", *words) == printed


def test_the_documents_show_both_commands_and_a_calibration() -> None:
    readme = [command for command, _ in console((ROOT / "README.md").read_text(encoding="utf-8"))]
    starts = ("python3 go demo", "python3 go test", "leastnoise calibrate")
    assert [sum(command.startswith(start) for command in readme) for start in starts] == [1, 1, 1]


def test_the_changelog_begins_with_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^## (.*)$", changelog)[0] == leastnoise.__version__


LINKS = [
    pytest.param(document, link, id=f"{document.name}: {link}")
    for document in DOCUMENTS
    for link in re.findall(r"\]\((?!https?://|#)([^)#]+)", document.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("document", "link"), LINKS)
def test_a_link_to_a_file_leads_to_one(document: Path, link: str) -> None:
    assert (document.parent / link).is_file()


# ------------------------------------------------------------------- the package


def test_everything_public_is_exported_and_nothing_else() -> None:
    """The table of homes, the names for type checkers and ``__all__`` are one list."""
    homes = [name for names in leastnoise._HOMES.values() for name in names]
    assert leastnoise.__all__ == sorted([*homes, "errors"])
    assert [name for name in dir(leastnoise) if not name.startswith("_")] == leastnoise.__all__
    source = Path(leastnoise.__file__).read_text(encoding="utf-8")
    (typed,) = re.findall(r"(?s)if TYPE_CHECKING:\n(.*?)\n\n", source)
    for name in leastnoise.__all__:
        assert re.search(rf"\b{name}\b", typed)
        assert getattr(leastnoise, name) is not None
    with pytest.raises(AttributeError, match="module 'leastnoise' has no attribute 'nothing'"):
        _ = leastnoise.nothing


EXPORTED = {name: getattr(leastnoise, name) for name in leastnoise.__all__}
CALLS = [name for name, it in EXPORTED.items() if inspect.isclass(it) or inspect.isfunction(it)]


@pytest.mark.parametrize("name", CALLS)
def test_what_is_exported_says_what_it_is(name: str) -> None:
    """By a docstring of its own: neither inherited nor the signature that dataclasses write."""
    words = vars(EXPORTED[name]).get("__doc__", EXPORTED[name].__doc__)
    assert words
    assert not words.startswith(f"{name}(")


@pytest.mark.parametrize(
    "module", ["leastnoise", "leastnoise.mechanism", "leastnoise.sampling.draws"]
)
def test_importing_loads_no_heavy_library(module: str) -> None:
    script = f"import sys, {module}; print(*sorted(m.partition('.')[0] for m in sys.modules))"
    loaded = output(sys.executable, "-c", script).split()
    assert "leastnoise" in loaded
    assert HEAVY.isdisjoint(loaded)


# ------------------------------------------------------------------- the repository

# None of these patterns matches itself, so this file may be searched too.
MACHINES = {
    "a path of one machine": r"(?<![\w.~)}\]])/(?:root|work|home|Users|opt|mnt)/\w",
    "a registry": r"(?i)pythonhosted\.org|pypi\.(?:org|python)|//[\w.-]*(?:artifact|nexus|jfrog)",
    "an address of a package index": r"(?im)^--(?:extra-)?(?:index-url|find-links|trusted-host)\b",
}


@pytest.mark.parametrize("what", MACHINES)
def test_no_file_of_the_repository_names(what: str) -> None:
    """Neither tracked files nor new ones that git does not ignore."""
    listed = output("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    files = [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    assert ROOT / "pyproject.toml" in files
    pattern = re.compile(MACHINES[what])
    texts = {file: file.read_bytes().decode("utf-8", "replace") for file in files}
    assert {
        file.name: pattern.findall(text) for file, text in texts.items() if pattern.search(text)
    } == {}


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("a path of one machine", "open('{}root{}x')"),
        ("a path of one machine", "cd {}work{}main"),
        ("a registry", "https:{0}{0}files.python" + "hosted.org{0}x"),
        ("a registry", "https:{0}{0}py" + "pi.org{0}simple"),
        ("an address of a package index", "-" + "-index-url https:{0}{0}host"),
    ],
)
def test_what_is_searched_for_would_be_found(what: str, line: str) -> None:
    assert re.search(MACHINES[what], line.format("/", "/"))
