"""Exact confidence intervals, for tests of what was sampled."""

from scipy import stats

# How often a test of samples may fail although the code is right.
FALSE_ALARM = 1e-9


def clopper_pearson(successes: int, trials: int, rate: float) -> tuple[float, float]:
    """Return the exact two-sided interval of a probability, wrong with at most this rate."""
    low = stats.beta.ppf(rate / 2, successes, trials - successes + 1) if successes else 0.0
    failures = trials - successes
    high = stats.beta.isf(rate / 2, successes + 1, failures) if failures else 1.0
    return float(low), float(high)
