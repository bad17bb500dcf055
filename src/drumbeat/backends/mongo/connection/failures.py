"""Errors of a MongoDB server and of its client library, and what they mean for a caller."""

from __future__ import annotations

import ssl
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from bson.errors import InvalidDocument
from pymongo import errors

from drumbeat.backends.mongo.connection.address import Address
from drumbeat.backends.mongo.connection.cancellation import cancellable
from drumbeat.model.errors import ConfigurationError, Unavailable

FAILURES = (errors.PyMongoError, OSError)
"""What the client library raises when a call fails; `TimeoutError` is an `OSError`."""
DUPLICATE_KEY = 11000


class Meaning(NamedTuple):
    """An error in words, and whether only another setting can fix it."""

    reason: str
    by_setting: bool = False


_WITHOUT_MAJORITY = Meaning(
    "the primary has made the write, but a majority of the replica set has not confirmed it in "
    "time, so it may still be lost"
)
_NO_PRIMARY = Meaning("it is not the primary of its replica set now")
_STOPS = Meaning("it is shutting down")
_TOO_LATE = Meaning("it did not answer in time")
_NO_RIGHTS = Meaning(
    "its access rules deny the user what Drumbeat needs; grant it the role readWrite on the "
    "database",
    by_setting=True,
)
_NO_ACCESS = Meaning(
    "it rejects the user name or the password of the address; users are looked up in the database "
    "that the option authSource names, else in that of the address",
    by_setting=True,
)
_OTHER_INDEX = Meaning(
    "an index of a collection of Drumbeat's is not as Drumbeat makes it; drop that index, and "
    "start again",
    by_setting=True,
)
_BY_CODE: Mapping[int, Meaning] = {
    11: _NO_ACCESS,  # UserNotFound
    13: _NO_RIGHTS,  # Unauthorized
    18: _NO_ACCESS,  # AuthenticationFailed
    50: _TOO_LATE,  # MaxTimeMSExpired
    64: _WITHOUT_MAJORITY,  # WriteConcernTimeout
    85: _OTHER_INDEX,  # IndexOptionsConflict
    86: _OTHER_INDEX,  # IndexKeySpecsConflict
    91: _STOPS,  # ShutdownInProgress
    100: Meaning("too few members of its replica set are reachable"),  # CannotSatisfyWriteConcern
    189: _NO_PRIMARY,  # PrimarySteppedDown
    10107: _NO_PRIMARY,  # NotWritablePrimary
    11600: _STOPS,  # InterruptedAtShutdown
    11602: _NO_PRIMARY,  # InterruptedDueToReplStateChange
    13435: _NO_PRIMARY,  # NotPrimaryNoSecondaryOk
    13436: _NO_PRIMARY,  # NotPrimaryOrSecondary
    14031: Meaning("its disk is full"),  # OutOfDiskSpace
    8000: _NO_ACCESS,  # AtlasError, which stands for a refused login
}
"""Errors of the server, by their numbers; the text varies between versions."""
_BY_KIND: Mapping[type[Exception], Meaning] = {
    errors.ConfigurationError: Meaning("the address cannot be used", by_setting=True),
    errors.WTimeoutError: _WITHOUT_MAJORITY,
    errors.WriteConcernError: _WITHOUT_MAJORITY,
    errors.NotPrimaryError: _NO_PRIMARY,
    errors.ExecutionTimeout: _TOO_LATE,
    errors.NetworkTimeout: _TOO_LATE,
    errors.WaitQueueTimeoutError: Meaning("all connections to it are in use"),
    errors.ServerSelectionTimeoutError: Meaning("no primary can be reached"),
    errors.ConnectionFailure: Meaning("the connection failed"),
    OSError: Meaning("the connection failed"),
}
"""By kind; the first that fits counts."""


@contextmanager
def translated(address: Address) -> Generator[None]:
    """Turn errors of the client into `Unavailable`; a duplicate key is an answer and passes."""
    try:
        with cancellable():
            yield
    except FAILURES as error:
        if isinstance(error, InvalidDocument) or is_duplicate(error):
            raise
        raise unavailable(address, error) from error


def is_duplicate(error: BaseException) -> bool:
    """Whether a write was only refused because its keys exist, and a majority knows the rest."""
    match error:
        case errors.BulkWriteError(details=details):
            return not details.get("writeConcernErrors") and all(
                each.get("code") == DUPLICATE_KEY for each in details.get("writeErrors", ())
            )
        case errors.DuplicateKeyError(details=details):
            return not (details or {}).get("writeConcernError")
        case _:
            return False


def meaning_of(error: BaseException) -> Meaning:
    cause: BaseException | None = error
    while cause is not None:  # a refused certificate arrives wrapped in an error of the connection
        if isinstance(cause, ssl.SSLError) or "[SSL:" in str(cause):
            return Meaning("no secure connection can be made", by_setting=True)
        cause = cause.__cause__ or cause.__context__
    for code in _codes(error):
        if code in _BY_CODE:
            return _BY_CODE[code]
    for kind, meaning in _BY_KIND.items():
        if isinstance(error, kind):
            return meaning
    return Meaning("it answered with an error")


def unavailable(address: Address, error: BaseException) -> Unavailable:
    return Unavailable(_sentence(address, error))


def refused(address: Address, error: BaseException) -> ConfigurationError | Unavailable:
    """The error when opening: `ConfigurationError` if only another setting can fix it."""
    if meaning_of(error).by_setting:
        return ConfigurationError(_sentence(address, error))
    return unavailable(address, error)


def _codes(error: BaseException) -> list[int]:
    """The numbers of the server's errors; those of the write concern first, since it wrote."""
    if isinstance(error, errors.BulkWriteError):
        details: Mapping[str, Any] = error.details
        each = [*details.get("writeConcernErrors", ()), *details.get("writeErrors", ())]
        return [one["code"] for one in each if "code" in one]
    if isinstance(error, errors.WriteConcernError):
        return [64]
    if isinstance(error, errors.NotPrimaryError):
        said = error.details
        return [said["code"]] if isinstance(said, Mapping) and "code" in said else []
    if isinstance(error, errors.OperationFailure) and error.code is not None:
        return [error.code]
    return []


def _sentence(address: Address, error: BaseException) -> str:
    # The client appends a description of all servers, which is long and says no more.
    said = str(error).partition(", full error:")[0].partition(", Timeout:")[0].strip()
    detail = said or type(error).__name__
    return f"MongoDB at {address.shown} is not available: {meaning_of(error).reason} ({detail})"
