"""Write the golden files anew: ``python -m tests.golden.record``.

Only for a change that is meant to alter sampled noise, digests or ledger rows. The files of 0.5.0
(``certificate-0.5.0-*`` and ``0.5.0.ledger``) were written by that version and are never replaced.
"""

import json
import tempfile
from pathlib import Path

from tests.golden.cases import HERE, digests, rows, sampled


def main() -> None:
    """Write draws.json, digests.json and rows.json."""
    with tempfile.TemporaryDirectory() as folder:
        recorded = {
            "draws": sampled(),
            "digests": digests(),
            "rows": rows(Path(folder) / "golden.ledger"),
        }
    for name, content in recorded.items():
        text = json.dumps(content, indent=1, ensure_ascii=False)
        (HERE / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
