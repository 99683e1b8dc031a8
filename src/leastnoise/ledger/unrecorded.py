"""The spelled-out way to go without a ledger."""

from typing import Final, final


@final
class Unrecorded:
    """Says that a release is recorded nowhere; there is one, :data:`UNRECORDED`."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Print its name."""
        return "UNRECORDED"

    def __str__(self) -> str:
        """Say what it means, as answers print it."""
        return "not recorded in any ledger"

    def __reduce__(self) -> str:
        """Stay the one that there is."""
        return "UNRECORDED"


UNRECORDED: Final = Unrecorded()
