"""The child's side of `processes`: runs one call after another, and listens while it does."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import os
import queue
import signal
import threading
from multiprocessing.connection import Connection
from typing import Any

from drumbeat.engine.codec import Unstorable, encode_result
from drumbeat.engine.context import Context
from drumbeat.engine.executor import ending_of
from drumbeat.engine.processes import Alive, Call, Interrupt, Load, Message, Ready
from drumbeat.engine.task import TaskOptions, define
from drumbeat.model.ending import Returned


class _Line:
    """The pipe to the parent, written by handlers and read by a thread."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._writing = threading.Lock()
        self._calls: queue.SimpleQueue[Load | Call] = queue.SimpleQueue()
        self.context: Context | None = None
        threading.Thread(target=self._listen, name="drumbeat-listener", daemon=True).start()

    def next_call(self) -> Load | Call:
        return self._calls.get()

    def tell(self, message: Message) -> None:
        with self._writing:
            self._pipe.send(message)

    def _listen(self) -> None:
        while True:
            try:
                message: Load | Call | Interrupt = self._pipe.recv()
            except (EOFError, OSError):
                os._exit(0)  # the parent is gone, and with it the hold on the job
            if isinstance(message, Load | Call):
                self._calls.put(message)
            elif self.context is not None:
                self.context.cancelled.set(message.reason)


def serve(pipe: Connection) -> None:
    """Serve calls until the parent goes away or kills this process."""
    for number in (signal.SIGINT, signal.SIGTERM):  # which may go to all processes of a service
        signal.signal(number, signal.SIG_IGN)  # the parent decides when to stop
    line = _Line(pipe)
    while True:
        call = line.next_call()
        if isinstance(call, Load):
            _load(call)
            line.tell(Ready())
            continue
        line.context = Context(call.attempt, line.tell, lambda: line.tell(Alive()), call.epoch)
        try:
            ending = _perform(call, line.context)
        except BaseException as error:  # noqa: BLE001 - a handler may raise anything
            ending = ending_of(error)
        line.context = None
        line.tell(ending)


def _load(load: Load) -> None:
    for module in load.modules:
        with contextlib.suppress(BaseException):  # a call of its functions fails with the error
            importlib.import_module(module)


def _perform(call: Call, context: Context) -> Message:
    handler = _find(call)
    definition = define(handler, call.attempt.spec.task, TaskOptions())
    args, kwargs = definition.codec.decode(call.attempt.spec.arguments)
    if definition.takes_context:
        args.insert(0, context)
    result: object = handler(*args, **kwargs)
    if inspect.iscoroutine(result):
        result = asyncio.run(result)
    encoded = encode_result(result)
    return encoded if isinstance(encoded, Unstorable) else Returned(encoded)


def _find(call: Call) -> Any:
    found: Any = importlib.import_module(call.module)
    for name in call.function.split("."):
        found = getattr(found, name)
    return getattr(found, "handler", found)  # the decorator put the task in the function's place
