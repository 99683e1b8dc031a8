"""A small web service: analysts ask queries about one table, and one ledger holds their budgets.

``python examples/service.py service.toml`` serves the table of a card to its analysts::

    card = "people.toml"

    [tokens]  # the SHA-256 of a random token of each analyst
    ann = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

The card states the table, what analysts may ask, their limits, and the ledger. Its owner creates
the ledger with ``leastnoise card apply``: docs/services.md has the steps.

    POST /query    {"query": "mean", "column": "income", "by": "sex", "share": "1/20"}
    GET  /budget
    GET  /healthz
"""

import argparse
import hashlib
import hmac
import json
import logging
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

import leastnoise as ln
from leastnoise.errors import (
    BudgetExceeded,
    InvalidParameter,
    LeastnoiseError,
    NotPrivate,
    Unsupported,
)
from leastnoise.tables import QUERIES, GroupedAnswers, ProtectedTable, layout_of, read_card

LONGEST_BODY = 1 << 16
# Arguments of the methods that analysts may not give: keys are shared by all analysts.
RESERVED = {"self", "key", "fresh", "allow_exact"}
_REJECTED = InvalidParameter, NotPrivate, Unsupported


# ------------------------------------------------------------------------------------ the service


@dataclass(frozen=True)
class Settings:
    """The settings of a service.

    Attributes:
        card: The path of the card.
        tokens: The SHA-256 of the token of each analyst, in hexadecimal.
    """

    card: Path
    tokens: Mapping[str, str]

    @classmethod
    def read(cls, path: Path) -> "Settings":
        """Read a file; the path of the card is relative to it."""
        stated = tomllib.loads(path.read_text(encoding="utf-8"))
        return cls(path.parent / stated["card"], stated["tokens"])


class Service:
    """For each analyst, the table with the ledger that has their budget. Threads share it."""

    def __init__(self, settings: Settings) -> None:
        """Open everything once, in the process that serves."""
        self._tokens = {name: bytes.fromhex(text) for name, text in settings.tokens.items()}
        card = read_card(settings.card)
        for analyst in settings.tokens:
            if card.analysts.get(analyst) is None:  # they could spend all of the budget
                raise InvalidParameter(
                    f"The card states no limit of the analyst {analyst!r}",
                    fix=f"Write [analysts.{analyst}] with epsilon and delta.",
                )
        self._tables: dict[str, ProtectedTable] = {}
        with ExitStack() as opened:
            for analyst in settings.tokens:
                table = ln.protect(card=card, analyst=analyst)
                self._tables[analyst] = opened.enter_context(table)
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Close the tables and the ledgers."""
        self._opened.close()

    def find_analyst(self, token: str) -> str | None:
        """Return whose token it is; the time does not depend on how much of a token is right."""
        given = hashlib.sha256(token.encode()).digest()
        right = [name for name, own in self._tokens.items() if hmac.compare_digest(own, given)]
        return right[0] if right else None

    def answer(self, analyst: str, asked: object) -> dict[str, Any]:
        """Answer a query of an analyst, within the card and their budget."""
        name, arguments = parse_query(asked)
        return as_json(getattr(self._tables[analyst], name)(**arguments))

    def budget(self, analyst: str) -> dict[str, Any]:
        """Return the budget of an analyst, and what remains for all of them together."""
        ledger = self._ledger(analyst)
        own = ledger.analyst_account
        return {
            "analyst": analyst,
            "limit": None if own.limit is None else privacy_as_json(own.limit),
            "spent": privacy_as_json(own.spent),
            "remaining": privacy_as_json(own.remaining),
            "remaining_for_all": privacy_as_json(ledger.remaining),
        }

    def check(self) -> None:
        """Raise an error if the ledger cannot be read."""
        _ = self._ledger(next(iter(self._tables))).head

    def _ledger(self, analyst: str) -> ln.Ledger:
        ledger = self._tables[analyst].ledger
        assert isinstance(ledger, ln.Ledger)  # noqa: S101 -- that of the card
        return ledger


# ----------------------------------------------------------------------------- queries and answers


def parse_query(asked: object) -> tuple[str, dict[str, Any]]:
    """Return the method of a query and its arguments, or reject the query."""
    name = asked.get("query") if isinstance(asked, dict) else None
    if not isinstance(asked, dict) or not isinstance(name, str) or name not in QUERIES:
        raise InvalidParameter(
            f"A query must be an object with query as one of {', '.join(QUERIES)}",
            fix='Write, for example, {"query": "count", "share": "1/20"}.',
        )
    arguments = {field: value for field, value in asked.items() if field != "query"}
    signature = QUERIES[name].signature
    known = [field for field in signature.parameters if field not in RESERVED]
    unknown = [field for field in arguments if field not in known]
    if unknown:
        raise InvalidParameter(
            f"The fields of this query are {', '.join(known)}", got=", ".join(map(repr, unknown))
        )
    try:
        signature.bind(None, **arguments)
    except TypeError as error:
        raise InvalidParameter(f"This query lacks a field: {error}") from None
    return name, {field: _parse(field, value) for field, value in arguments.items()}


def _parse(name: str, value: object) -> object:
    """Return an argument as the methods take it."""
    if name == "privacy":
        if not isinstance(value, dict) or not {"epsilon"} <= value.keys() <= {"epsilon", "delta"}:
            raise InvalidParameter(
                "privacy must be an object with epsilon and delta",
                fix='Write, for example, {"epsilon": "0.1", "delta": "1e-8"}.',
            )
        return ln.Privacy(**value)
    if isinstance(value, list):
        return [tuple(each) if isinstance(each, list) else each for each in value]
    return value


def as_json(result: Any) -> dict[str, Any]:
    """Return a result for JSON: the figures of the answer, or of each group."""
    grouped = isinstance(result, GroupedAnswers)
    answers = list(result.answers) if grouped else [result]
    layout = layout_of(answers)
    figures = [
        {
            column.name: None if ratio is None else column.to_float(*ratio)
            for column, ratio in zip(layout.columns, row, strict=True)
        }
        for row in layout.figures(answers)
    ]
    if grouped:
        keys = [dict(zip(result.names, map(_key_as_json, key), strict=True)) for key in result.keys]
        rows = [{"group": key} | numbers for key, numbers in zip(keys, figures, strict=True)]
    receipt = result.receipt
    return {
        "subject": result.subject.to_dict(),
        **({"groups": rows} if grouped else figures[0]),
        "privacy": privacy_as_json(result.total_privacy),
        "reused": receipt is not None and receipt.reused,
    }


def _key_as_json(part: object) -> object:
    return part if isinstance(part, int | str) else str(part)


def privacy_as_json(privacy: ln.Privacy) -> dict[str, str]:
    """Return a guarantee as exact ratios."""
    return {"epsilon": str(privacy.epsilon), "delta": str(privacy.delta)}


# -------------------------------------------------------------------------------------- the routes


def make_app(settings: Settings) -> Starlette:
    """Return the application. The service is opened by the process that runs it, after a fork."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.service = await run_in_threadpool(Service, settings)
        try:
            yield
        finally:
            await run_in_threadpool(app.state.service.close)

    routes = [
        Route("/query", answering(_query), methods=["POST"]),
        Route("/budget", answering(_budget)),
        Route("/healthz", _check_health),
    ]
    return Starlette(routes=routes, lifespan=lifespan)


Handler = Callable[[Request, Service, str], Awaitable[dict[str, Any]]]


def answering(handle: Handler) -> Callable[[Request], Awaitable[JSONResponse]]:
    """Return a route for analysts only, with its errors as responses."""

    async def respond(request: Request) -> JSONResponse:
        service: Service = request.app.state.service
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        analyst = service.find_analyst(token) if scheme.lower() == "bearer" else None
        if analyst is None:
            rejected = {"error": "Unauthorized", "message": "Send the bearer token of an analyst."}
            return JSONResponse(rejected, 401, {"WWW-Authenticate": "Bearer"})
        try:
            return JSONResponse(await handle(request, service, analyst))
        except BudgetExceeded as error:
            return _reject(403, error)
        except _REJECTED as error:
            return _reject(400, error)
        except LeastnoiseError as error:  # the engine or the ledger; the event log has more
            return _reject(503, error)

    return respond


async def _query(request: Request, service: Service, analyst: str) -> dict[str, Any]:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_BODY:
            raise InvalidParameter(f"A query must have at most {LONGEST_BODY} bytes")
    try:
        asked = json.loads(body, parse_float=Decimal)  # 0.1 is exactly 1/10
    except (ValueError, RecursionError):
        raise InvalidParameter("A query must be JSON") from None
    return await run_in_threadpool(service.answer, analyst, asked)


async def _budget(_: Request, service: Service, analyst: str) -> dict[str, Any]:
    return await run_in_threadpool(service.budget, analyst)


async def _check_health(request: Request) -> JSONResponse:
    try:
        await run_in_threadpool(request.app.state.service.check)
    except LeastnoiseError as error:
        return _reject(503, error)
    return JSONResponse({"status": "ok"})


def _reject(status: int, error: LeastnoiseError) -> JSONResponse:
    return JSONResponse({"error": type(error).__name__, "message": str(error)}, status)


def main() -> None:
    """Serve on this machine; in front of it belongs a server that speaks HTTPS."""
    parser = argparse.ArgumentParser(description="Serve private answers about a table.")
    parser.add_argument("settings", type=Path)
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    settings = Settings.read(options.settings)
    uvicorn.run(
        make_app(settings), host="127.0.0.1", port=options.port, log_level="info", access_log=False
    )


if __name__ == "__main__":
    main()
