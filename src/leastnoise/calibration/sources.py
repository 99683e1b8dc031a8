"""Sources of noise that are pages of the documentation, as certificates store them and in print.

A certificate cites a page by its path, which its reader may not have. In print it has a title.
"""

COMB = "The comb (docs/theory/comb.md)"
COMB_PAGE = "docs/theory/comb.md"
CRITICAL_WIDTH = "GDGK19, Theorem 2, at the critical width (docs/theory/critical-width.md)"
FAMILIES_PAGE = "docs/theory/families.md"
INTEGERS = "the integers (docs/theory/integers.md)"
SOLVED = "a linear programme, proved on a lattice (docs/theory/lattice-bound.md)"

_PRINTED = {
    COMB: 'The comb ("The comb" page)',
    COMB_PAGE: '"The comb" page',
    CRITICAL_WIDTH: 'GDGK19, Theorem 2, at the critical width ("Critical width" page)',
    FAMILIES_PAGE: '"Families of noise" page',
    INTEGERS: 'the integers ("The optimal noise on the integers" page)',
    SOLVED: 'a linear program, proved on a lattice ("Lattice bound" page)',
}


def format_source(source: str) -> str:
    """Return the source of noise for print.

    >>> format_source("The comb (docs/theory/comb.md)")
    'The comb ("The comb" page)'
    """
    return _PRINTED.get(source, source)
