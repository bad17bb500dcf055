"""The executor: runs a handler and says how it ended. Whatever happens in it becomes a value."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from drumbeat.engine.bus import Bus
from drumbeat.engine.codec import Unstorable, encode_result
from drumbeat.engine.processes import Processes
from drumbeat.engine.run import Run
from drumbeat.engine.task import Place
from drumbeat.engine.threads import Threads
from drumbeat.model.ending import Ending, Raised, Returned, Snoozed, Stopped
from drumbeat.model.errors import Cancel, InvalidArguments, Snooze
from drumbeat.model.events import AttemptOverran, ResultDropped

NOTHING = Returned()
OUR_FILES = frozenset(
    str(Path(__file__).with_name(name)) for name in ("executor.py", "child.py", "threads.py")
)


class Executor:
    """Runs handlers: on the loop, in threads, or in processes."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._threads = Threads()
        self.processes = Processes(self._threads)
        """The children in which handlers with `process=True` run."""

    async def execute(self, run: Run) -> Ending:
        """Run the handler until it ends, or until the run is interrupted."""
        try:
            definition = run.definition
            if definition.place is Place.PROCESS:
                answer = await self.processes.call(run)
                ending = self._drop(run, answer) if isinstance(answer, Unstorable) else answer
            else:
                args, kwargs = definition.codec.decode(run.attempt.spec.arguments)
                if definition.takes_context:
                    args.insert(0, run.context)
                if definition.place is Place.LOOP:
                    result: object = await definition.handler(*args, **kwargs)
                else:
                    call = partial(definition.handler, *args, **kwargs)
                    result = await self._in_thread(run, call)
                if result is None:
                    return NOTHING
                ending = self._returned(run, result)
        except asyncio.CancelledError as error:
            # Nobody asked for it, so it is an error like any other: `Cancel` is how to mean it.
            return run.interruption or Raised(_told(error))
        except KeyboardInterrupt:
            raise  # meant for the loop, whatever runs on it
        except BaseException as error:
            if isinstance(error, GeneratorExit) and not run.is_current:
                raise  # this coroutine is being closed; else the handler raised it
            ending = ending_of(error)
        finally:
            run.end()
        if isinstance(ending, Raised) and run.interruption is not None:
            return run.interruption  # it raised because it was asked to end
        return ending

    def close(self) -> None:
        """Let go of idle threads and of all processes."""
        self.processes.close()
        self._threads.close()

    async def _in_thread(self, run: Run, function: Callable[[], Any]) -> object:
        future = self._threads.call(function)
        try:
            returned: object = await asyncio.shield(future)
        except asyncio.CancelledError:
            if not future.done():  # a thread cannot be ended: its slot waits for it
                run.left_behind = future
                self._bus.emit(AttemptOverran(run.attempt))
            raise
        return returned

    def _returned(self, run: Run, result: object) -> Ending:
        encoded = encode_result(result)
        return self._drop(run, encoded) if isinstance(encoded, Unstorable) else Returned(encoded)

    def _drop(self, run: Run, result: Unstorable) -> Ending:
        self._bus.emit(ResultDropped(run.attempt, result.why))
        return NOTHING


def ending_of(error: BaseException) -> Ending:
    """How an error ends an attempt: two kinds are no failures but the handler's own wish."""
    match error:
        case Snooze():
            return Snoozed(error.delay)
        case Cancel():
            return Stopped(error.reason)
        case InvalidArguments():
            return Raised(str(error), final=True)
        case _:
            return Raised(_told(error))


def _told(error: BaseException) -> str:
    """The error as text, without our own frames above the handler's."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in OUR_FILES:
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace)).rstrip()
