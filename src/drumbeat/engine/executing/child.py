"""The child's side of `processes`: runs one call after another, and receives messages meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import os
import pickle
import queue
import signal
import threading
from contextvars import copy_context
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any

from drumbeat.engine.executing.child_logs import send_logs
from drumbeat.engine.executing.executor import ending_of, raised
from drumbeat.engine.executing.processes import (
    Alive,
    CancellationSeen,
    HandlerCall,
    Interrupt,
    Load,
    Message,
    Ready,
)
from drumbeat.engine.executing.surrounded import with_middleware
from drumbeat.engine.tasks.codec import Unstorable, encode_result
from drumbeat.engine.tasks.context import CURRENT, Context
from drumbeat.engine.tasks.options import TaskOptions
from drumbeat.engine.tasks.task import define
from drumbeat.model.jobs.ending import Ending, Raised, RetryAnswer, Returned
from drumbeat.model.jobs.retry import RetryCondition
from drumbeat.rules.jobs.retry_condition import answered


class _ParentPipe:
    """The pipe to the parent, written by handlers and read by a thread."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._writing = threading.Lock()
        self._calls: queue.SimpleQueue[Load | HandlerCall] = queue.SimpleQueue()
        self.context: Context | None = None
        threading.Thread(target=self._listen, name="drumbeat-listener", daemon=True).start()

    def next_call(self) -> Load | HandlerCall:
        return self._calls.get()

    def send(self, message: Message) -> None:
        with self._writing:
            self._pipe.send(message)

    def _listen(self) -> None:
        while True:
            try:
                message: Load | HandlerCall | Interrupt = self._pipe.recv()
            except (EOFError, OSError):
                os._exit(0)  # the parent is gone, and with it the hold on the job
            if isinstance(message, Load | HandlerCall):
                self._calls.put(message)
            elif self.context is not None:
                self.context.ask_to_end(message.reason)


def serve(pipe: Connection) -> None:
    """Serve calls until the parent exits or kills this process."""
    for number in (signal.SIGINT, signal.SIGTERM):  # which may go to all processes of a service
        signal.signal(number, signal.SIG_IGN)  # the parent decides when to stop
    parent = _ParentPipe(pipe)
    while True:
        call = parent.next_call()
        if isinstance(call, Load):
            ready = _load(call)
            send_logs(call.log_level, parent.send)
            parent.send(ready)
            continue
        context = parent.context = Context(
            call.attempt, parent.send, lambda: parent.send(Alive()), call.epoch
        )
        try:
            ending = copy_context().run(_perform, call, context)
        except BaseException as error:  # noqa: BLE001 - a handler may raise anything
            ending = _portable(_answered(ending_of(error), call))
        parent.context = None
        if context.has_seen_cancellation:
            parent.send(CancellationSeen(context.is_finished))
        parent.send(ending)


def _load(load: Load) -> Ready:
    for module in load.modules:
        with contextlib.suppress(BaseException):  # a call of its functions fails with the error
            importlib.import_module(module)
    for reference in load.hooks:
        try:
            hook = reference.resolve()
            hook.refuse_awaitable(hook.function())
        except BaseException as error:  # noqa: BLE001 - a hook may raise anything
            return Ready(f"{reference.kind} {reference.name!r} failed: {raised(error).error}")
    return Ready()


@dataclass(frozen=True, slots=True)
class _Running:
    context: Context


def _answered(ending: Ending, call: HandlerCall) -> Ending:
    """The ending with what the condition of the task's retries says about it."""
    if call.condition is None or not isinstance(ending, Raised):
        return ending
    try:
        condition: RetryCondition = pickle.loads(call.condition)  # noqa: S301 - from our own parent
    except Exception as error:  # noqa: BLE001 - importing code of the app may fail in any way
        fault = f"the condition of its retry cannot be imported in its process: {error!r}"
        return replace(ending, retry=RetryAnswer(fault=fault))
    return answered(ending, condition, call.attempt)


def _portable(ending: Message) -> Message:
    """The ending with its exception, if that can be sent to another process."""
    if not isinstance(ending, Raised):
        return ending
    try:
        pickle.loads(pickle.dumps(ending))  # noqa: S301 - our own object
    except Exception:  # noqa: BLE001 - an exception of the app may fail in any way
        return replace(ending, exception=None)
    return ending


def _perform(message: HandlerCall, context: Context) -> Message:
    CURRENT.set(_Running(context))
    handler, spec = _find(message), message.attempt.spec
    definition = define(handler, spec.task, TaskOptions())
    args, kwargs = definition.codec.decode(spec.arguments)
    if definition.takes_context:
        args.insert(0, context)

    def call() -> object:
        result: object = handler(*args, **kwargs)
        return asyncio.run(result) if inspect.iscoroutine(result) else result

    middleware = [each.resolve() for each in message.middleware]
    result = with_middleware(middleware, context, call)()
    encoded = encode_result(result)
    return encoded if isinstance(encoded, Unstorable) else Returned(encoded)


def _find(call: HandlerCall) -> Any:
    found: Any = importlib.import_module(call.module)
    for name in call.function.split("."):
        found = getattr(found, name)
    return getattr(found, "handler", found)  # the decorator put the task in the function's place
