"""The pages of docs/theory that prove claims of the paper, as text for the page of the paper.

The build copies them into the package (pyproject.toml), so an installed package has them. In a
checkout they are in docs/theory.
"""

import re
from pathlib import Path

# The pages that the claims name, and those that the proof of Theorem 2 refers to.
PROOFS = (
    "lemma-1",
    "lemma-2",
    "theorem-1",
    "theorem-2",
    "critical-width",
    "supporting-line",
    "theorem-3",
    "algorithm-1",
    "integers",
    "cited-systems",
    "errata",
)
_INSTALLED = Path(__file__).parent / "theory"
_CHECKOUT = Path(__file__).parents[3] / "docs" / "theory"
_IMAGE = re.compile(r"^!\[([^]]*)]\([^)]*\)\n+", re.MULTILINE)
_LINK = re.compile(r"\[([^]]+)]\(([^)\s]+)\)")
_COMMENT = re.compile(r"^<!-- .* -->\n", re.MULTILINE)


def read_proof(name: str) -> str:
    """Return a page in Markdown, whose links lead to other pages of :data:`PROOFS` only.

    Other links, and figures, which are not copied, become text or are omitted.
    """
    folder = _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT
    text = (folder / f"{name}.md").read_text(encoding="utf-8")
    return _LINK.sub(_keep_link, _COMMENT.sub("", _IMAGE.sub("", text)))


def _keep_link(link: re.Match[str]) -> str:
    page, _, _ = link[2].partition("#")
    return f"[{link[1]}]({page})" if page.removesuffix(".md") in PROOFS else link[1]
