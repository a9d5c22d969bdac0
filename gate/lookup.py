"""Asking a source, with a limit on its time: the gate's only I/O.

A source that raises or hangs must not take the call down with it: it is `Unavailable`,
which lets the call proceed, and is logged once a minute per target.
"""

from __future__ import annotations

import contextvars
import inspect
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from .contract import Contract
from .errors import GateError
from .event_loop import mark_retrieved, running_loop
from .reasons import one_line, reason_of
from .sources.base import ContractSource, Found, Lookup, NotFound, Unavailable
from .target import GateTarget

if TYPE_CHECKING:
    from concurrent.futures import Future

_log = logging.getLogger("tooldialect.gate")
_T = TypeVar("_T")
_LOG_EVERY_SECONDS = 60.0
_REMEMBERED_TARGETS = 1024


class Asker:
    """Looks targets up within `timeout` seconds, from sync and async code alike."""

    def __init__(self, timeout: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._timeout = timeout
        self._clock = clock
        self._logged: OrderedDict[str, float] = OrderedDict()
        self._lock = threading.Lock()

    def ask(self, source: ContractSource, target: GateTarget) -> Lookup:
        """Look up from code without an event loop.

        Raises GateError inside a running loop where the source answers asynchronously:
        blocking the loop that has to deliver the answer could only time out.
        """
        if _answers_at_once(source):
            return self._checked(target, lambda: source.lookup(target))
        if inspect.iscoroutinefunction(source.lookup) and running_loop() is not None:
            raise GateError(
                f"the source of {target.key} answers asynchronously and this thread runs an event loop: "
                "use aconsult or aguard"
            )
        blocking = getattr(source, "lookup_blocking", None)
        if blocking is None:
            answer = _in_thread(lambda: _settle(source.lookup(target), self._timeout))
        else:
            answer = _in_thread(lambda: blocking(target, self._timeout))
        try:
            return self._checked(target, lambda: answer.result(self._timeout))
        finally:
            answer.cancel()

    async def aask(self, source: ContractSource, target: GateTarget) -> Lookup:
        """Look up from a coroutine; a source that is not async is asked in a thread."""
        if _answers_at_once(source):
            return self._checked(target, lambda: source.lookup(target))
        import asyncio

        work = asyncio.ensure_future(_acall(source, target))
        try:
            done, _ = await asyncio.wait({work}, timeout=self._timeout)
        finally:
            # Not awaited: a source that swallows the cancellation must not hold the call up.
            work.cancel()
            work.add_done_callback(mark_retrieved)
        return self._checked(target, lambda: work.result() if done else _timed_out())

    def peek(self, source: ContractSource, target: GateTarget) -> Contract | None:
        """What the source knows without I/O; None where it knows nothing or cannot say."""
        peek = getattr(source, "peek", None)
        if peek is None:
            return None
        try:
            known = peek(target)
        except Exception as error:
            self._log(target, reason_of(error))
            return None
        return known if isinstance(known, Contract) else None

    def _checked(self, target: GateTarget, answer: Callable[[], Any]) -> Lookup:
        try:
            found: Lookup = answer()
        except TimeoutError:
            found = Unavailable(f"no answer within {self._timeout:g} s")
        except (Exception, _cancelled_error()) as error:
            # A cancellation from inside the source; the caller's own is not raised in here.
            found = Unavailable(reason_of(error))
        if not _is_answer(found):
            found = Unavailable(f"lookup returned {_shape(found)}, not Found, NotFound or Unavailable as declared")
        if isinstance(found, Unavailable):
            self._log(target, found.why)
        return found

    def _log(self, target: GateTarget, why: str) -> None:
        with self._lock:
            now = self._clock()
            while self._logged and now - next(iter(self._logged.values())) >= _LOG_EVERY_SECONDS:
                self._logged.popitem(last=False)
            # Full of the last minute's targets, it is a flood: more of it tells nothing new.
            if target.key in self._logged or len(self._logged) >= _REMEMBERED_TARGETS:
                return
            self._logged[target.key] = now
        _log.warning("[contract-gate] no contract for %s, its calls proceed unchecked: %s", target.key, one_line(why))


def _answers_at_once(source: ContractSource) -> bool:
    return getattr(source, "immediate", False) is True


def _is_answer(found: Any) -> bool:
    if isinstance(found, Found):
        return isinstance(found.contract, Contract)
    if isinstance(found, NotFound):
        names: Any = found.alternatives
        part: Any = found.part
        if part is not None and not isinstance(part, int):
            return False
        return isinstance(names, tuple | list) and all(isinstance(name, str) for name in names)
    return isinstance(found, Unavailable)


def _shape(found: Any) -> str:
    if isinstance(found, Found):
        return f"Found with {type(found.contract).__name__} for a Contract"
    return f"{type(found).__name__}{' with wrong fields' if isinstance(found, NotFound) else ''}"


def _cancelled_error() -> type[BaseException]:
    # Imported here and below: a host without a coroutine need not pay for asyncio.
    import asyncio

    return asyncio.CancelledError


def _timed_out() -> Lookup:
    raise TimeoutError


def _settle(answer: Lookup | Awaitable[Lookup], timeout: float) -> Lookup:
    if inspect.isawaitable(answer):
        import asyncio

        # The thread ends too, not only the wait for it.
        return asyncio.run(_within(answer, timeout))
    return answer


async def _within(answer: Awaitable[_T], timeout: float) -> _T:
    import asyncio

    async with asyncio.timeout(timeout):
        return await answer


async def _acall(source: ContractSource, target: GateTarget) -> Any:
    if inspect.iscoroutinefunction(source.lookup):
        return await source.lookup(target)
    import asyncio

    answer = await asyncio.wrap_future(_in_thread(lambda: source.lookup(target)))
    return await answer if inspect.isawaitable(answer) else answer


def _in_thread(call: Callable[[], _T]) -> Future[_T]:
    """Run in a daemon thread of its own: a pool's threads would be used up by sources that hang,
    and would keep the interpreter from exiting."""
    from concurrent.futures import Future

    future: Future[_T] = Future()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            result = context.run(call)
        except BaseException as error:
            # SystemExit ends the source's thread, not the program; asyncio's futures choke on StopIteration.
            passes = isinstance(error, Exception) and not isinstance(error, StopIteration)
            _settle_future(future, error=error if passes else GateError(f"the lookup ended with {reason_of(error)}"))
        else:
            _settle_future(future, result=result)

    threading.Thread(target=work, name="contract-lookup", daemon=True).start()
    return future


def _settle_future(future: Future[_T], result: Any = None, error: BaseException | None = None) -> None:
    if not future.set_running_or_notify_cancel():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)
