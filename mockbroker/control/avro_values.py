"""`POST /records/avro`: values of records as JSON, by an Avro schema that somebody has chosen in the console.

The body has the `schema`, and `topic`, `partition`, `offset` and `limit` as for `records list`. The answer
has for each record its offset, and either the `value` or an `error`. A value is Avro from its first byte on,
or after the five bytes that serializers write for a schema registry.
"""

import io
import json
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import trio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from ..errors import OptionError
from ..extras import MissingExtraError
from .answers import REFUSALS, Answer, error_answer, refusal
from .bodies import json_object
from .records import records
from .target import target_of

if TYPE_CHECKING:
    from avro.schema import Schema

PATH: Final = "/records/avro"
MOST_BYTES: Final = 32 * 1024
"""Larger values are not decoded."""
_MOST_RECORDS: Final = 100
_MOST_SHOWN: Final = 4096
_REGISTRY: Final = b"\0"
_REGISTERED: Final = 5
"""A zero byte, and the number of the schema."""


async def decode(request: Request) -> Response:
    try:
        given = await json_object(request)
        schema = _schema(given.get("schema"))
        partition, offset, limit = (_number(given, name) for name in ("partition", "offset", "limit"))
        found = records(target_of(request), str(given.get("topic")), partition, None, None, offset, True)
        there = [(each.offset, _small(each.value)) for each in islice(found, min(limit, _MOST_RECORDS))]
        told = []
        for number, value in there:
            told.append({"offset": number, **_told(schema, value)})
            # Clients are answered in between.
            await trio.lowlevel.checkpoint()
    except REFUSALS as error:
        return refusal(error)
    except MissingExtraError as error:
        return error_answer(501, str(error))
    except ClientDisconnect:
        return Response(status_code=400)
    return Answer(told)


def _number(given: dict[str, Any], name: str) -> int:
    """OptionError."""
    found = given.get(name)
    if type(found) is not int or found < 0:
        raise OptionError(f"{name} is {found!r}: give a number, 0 or more")
    return found


def _schema(given: Any) -> "Schema":
    """OptionError; MissingExtraError."""
    try:
        import avro.errors
        import avro.schema
    except ImportError:
        raise MissingExtraError("values are decoded by avro", "avro") from None
    try:
        return avro.schema.parse(json.dumps(given))
    except (avro.errors.AvroException, RecursionError) as error:
        raise OptionError(f"this is no Avro schema: {error}") from None


def _small(value: bytes | None) -> bytes | int | None:
    """A value; of a large one, only how many bytes it has."""
    return len(value) if value is not None and len(value) > MOST_BYTES else value


def _told(schema: "Schema", value: bytes | int | None) -> dict[str, str | None]:
    if value is None:
        return {"value": None}
    if isinstance(value, int):
        return {"error": f"{value} bytes: no more than {MOST_BYTES} are decoded"}
    wrong = ""
    for begins in (0, _REGISTERED) if value[:1] == _REGISTRY else (0,):
        try:
            return {"value": _decoded(schema, value[begins:])}
        except ValueError as error:
            wrong = str(error)
    return {"error": wrong}


def _decoded(schema: "Schema", value: bytes) -> str:
    """ValueError if it is not what the schema says, or more."""
    from avro.errors import AvroException
    from avro.io import BinaryDecoder, DatumReader

    data = io.BytesIO(value)
    try:
        found = DatumReader(schema).read(BinaryDecoder(data))
        shown = json.dumps(found, ensure_ascii=False, default=_shown)
    except (AvroException, ArithmeticError, LookupError, TypeError, RecursionError) as error:
        raise ValueError(f"not by this schema: {error}") from None
    if left := len(value) - data.tell():
        raise ValueError(f"not by this schema: {left} bytes are left")
    return shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}… ({len(shown)} characters)"


def _shown(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
