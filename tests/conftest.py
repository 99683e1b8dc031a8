"""What the tests share: how Hypothesis runs, where solutions are cached, and the fixtures."""

import os
import tempfile

from hypothesis import Phase, settings

from tests.support.engines import duck, pg, pg_address, spark
from tests.support.faulty_ledgers import kept, kept_in_crashing, kept_in_database
from tests.support.ledger_places import place, places
from tests.support.postgres_servers import postgres, postgres_of_its_own, quick_postgres
from tests.support.tapes import replay

# Fixtures, for every test.
__all__ = [
    "duck",
    "kept",
    "kept_in_crashing",
    "kept_in_database",
    "pg",
    "pg_address",
    "place",
    "places",
    "postgres",
    "postgres_of_its_own",
    "quick_postgres",
    "replay",
    "spark",
]

settings.register_profile("leastnoise", deadline=None, derandomize=True, max_examples=60)
# For the mutants, where a failure is wanted and its smallest example is not.
settings.register_profile(
    "first-failure",
    parent=settings.get_profile("leastnoise"),
    phases=(Phase.explicit, Phase.generate),
)
settings.load_profile("leastnoise")

# Solutions are kept for one run of the tests, and never read from the cache of whoever runs them.
_CACHE = tempfile.TemporaryDirectory(prefix="leastnoise-")
os.environ["LEASTNOISE_CACHE"] = _CACHE.name
