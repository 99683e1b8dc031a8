"""How answers from tables are kept in a ledger: keys and whole numbers, as JSON."""

import json
from typing import Any

from leastnoise.mechanism.recording import Form
from leastnoise.tables.drawing import Released
from leastnoise.tables.keys import keys_of, keys_written


def _written(answers: list[Released]) -> tuple[dict[str, Any], bytes]:
    data = [
        {
            "keys": keys_written(one.keys),
            "numbers": [[f"{number:x}" for number in numbers] for numbers in one.numbers],
        }
        for one in answers
    ]
    return {"tables": len(answers)}, json.dumps(data, ensure_ascii=False).encode()


def _read(_: dict[str, Any], payload: bytes) -> list[Released]:
    return [
        Released(
            keys_of(one["keys"]),
            tuple(tuple(int(number, 16) for number in numbers) for numbers in one["numbers"]),
        )
        for one in json.loads(payload)
    ]


TABLES: Form[list[Released]] = Form(_written, _read)
