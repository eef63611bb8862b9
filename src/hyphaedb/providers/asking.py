"""One question to a language model, and an answer in an agreed form or a reason why not.

Three ways to get an answer in a form: a JSON schema that the server enforces, a tool call, and a
prompt that shows the schema. Servers differ in which they take, and some answer the others with an
error, so each is tried in that order and the first that works is remembered for this server.

A model that misses the form is told so once; after that the question fails. Nothing that a server
says is trusted, shown at length or logged: its words may repeat a part of the key or of a text.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Generic, TypeVar, assert_never

from pydantic_ai import Agent, ModelRetry, NativeOutput, PromptedOutput, ToolOutput
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    OutputTokenLimitExceeded,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RunUsage

from hyphaedb.errors import HyphaeError, Unavailable
from hyphaedb.providers.llm_model import (
    KEY_SETTING,
    SPEC_SETTING,
    URL_SETTING,
    OpenedModel,
    ReasonerSettings,
)
from hyphaedb.providers.retrying import PASSING_STATUSES, Retries
from hyphaedb.providers.spending import Charge, Spending

logger = logging.getLogger(__name__)

A = TypeVar("A")
T = TypeVar("T")

_RE_ASKED: Final = 1
_BYTES_PER_TOKEN: Final = 3
"""English has four and more; an estimate that is too high only reserves too much for a moment."""


class Way(StrEnum):
    """How an answer is made to have the agreed form, in the order in which they are tried."""

    SCHEMA = "json_schema"
    TOOL = "tool_call"
    PROMPT = "prompted_json"


@dataclass(frozen=True, slots=True)
class Question(Generic[A, T]):
    """`instructions` are ours, `material` is data. `shape` is the form of the answer, `checked`
    turns it into what was asked for and raises `ValueError`, in words, if it makes no sense."""

    instructions: str
    material: str
    shape: type[A]
    checked: Callable[[A], T]
    answer_tokens_max: int


class _PassingFault(Exception):
    """Something that may be gone at the next attempt; `what` completes "the reasoner …"."""

    def __init__(self, what: str, status: int = 0, retry_after_s: float | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.status = status
        self.retry_after_s = retry_after_s


class _WayRefusedError(Exception):
    """This way does not work with this server, as far as one can tell."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class _UnfitError(Exception):
    """The way works; what the model answered makes no sense."""


class Asker:
    """Puts questions to one model, within its timeout and its budget."""

    def __init__(
        self,
        opened: OpenedModel,
        settings: ReasonerSettings,
        spending: Spending,
        rng: random.Random,
        retries: Retries | None = None,
    ) -> None:
        self._opened: Final = opened
        self._key: Final = settings.key.strip()
        self._timeout_s: Final = settings.timeout_s
        # Half of the whole, so that a connection that hangs leaves time for one more attempt.
        self._attempt_timeout_s: Final = settings.timeout_s / 2
        self._spending: Final = spending
        self._rng: Final = rng
        self._retries: Final = retries or Retries()
        self._way: Way | None = None
        self._entered = False
        self._closed = False

    @property
    def way(self) -> Way | None:
        """The way that works with this server; None until one did."""
        return self._way

    async def ask(self, question: Question[A, T]) -> T:
        """The answer, checked. `Unavailable` with the reason if there is none; counted then."""
        if self._closed:
            raise Unavailable("The reasoner is closed.", "Open the mesh again before using it.")
        if not self._entered:
            # A provider that makes connections of its own closes them when its model is left.
            self._entered = True
            await self._opened.held.enter_async_context(self._opened.model)
        deadline = asyncio.get_running_loop().time() + self._timeout_s
        try:
            return await self._ask(question, deadline)
        except Unavailable as error:
            self._spending.failed(error.message)
            raise

    async def close(self) -> None:
        """Closes the connections. Closing twice is harmless."""
        self._closed = True
        await self._opened.held.aclose()

    async def _ask(self, question: Question[A, T], deadline: float) -> T:
        refused = ""
        for way in (self._way,) if self._way else tuple(Way):
            try:
                answer = await self._in_way(question, way, deadline)
            except _WayRefusedError as refusal:
                refused = refusal.what
                logger.info("reasoner.refused server=%s way=%s", self._opened.server, way)
                continue
            except _UnfitError as unfit:
                self._remember(way)
                raise self._unavailable(f"answered what makes no sense: {unfit}") from None
            self._remember(way)
            return answer
        # Perhaps another server answers there by now: the next question finds out anew.
        self._way = None
        raise self._unavailable(refused)

    def _remember(self, way: Way) -> None:
        if self._way is not way:
            self._way = way
            logger.info("reasoner.way server=%s way=%s", self._opened.server, way)

    async def _in_way(self, question: Question[A, T], way: Way, deadline: float) -> T:
        fault = _PassingFault(f"did not answer within {self._timeout_s:g} s")
        clock = asyncio.get_running_loop().time
        attempts, pause_s = 0, 0.0
        # A pause that ends after the deadline is not waited for: the caller hears at once, and
        # hears for how long the server asked to be left alone.
        while attempts < self._retries.attempts_max and clock() + pause_s < deadline:
            await asyncio.sleep(pause_s)
            attempts += 1
            try:
                async with asyncio.timeout_at(deadline):
                    return await self._attempt(question, way)
            except TimeoutError:
                break
            except _PassingFault as passing:
                fault = passing
                if fault.status == 500 and attempts > 1 and self._way is None:
                    # Some servers break over a schema instead of refusing it.
                    raise _WayRefusedError(fault.what) from None
                pause_s = self._retries.pause_after_s(attempts, fault.retry_after_s, self._rng)
        wait_s = fault.retry_after_s or self._retries.pause_max_s
        raise self._unavailable(f"{fault.what} ({attempts} attempts)", retry_after_s=wait_s)

    async def _attempt(self, question: Question[A, T], way: Way) -> T:
        estimate = len((question.instructions + question.material).encode()) // _BYTES_PER_TOKEN
        reserved = estimate + question.answer_tokens_max
        self._spending.reserve(reserved)
        usage = RunUsage()
        # Until something says otherwise the request went out and was read.
        unreported = estimate
        try:
            return await self._run(question, way, usage)
        except (_WayRefusedError, HyphaeError):
            unreported = 0
            raise
        except _PassingFault as passing:
            unreported = 0 if passing.status else estimate
            raise
        finally:
            self._spending.settle(reserved, self._charge(usage, unreported))

    async def _run(self, question: Question[A, T], way: Way, usage: RunUsage) -> T:
        agent: Agent[object, A] = Agent(
            self._opened.model,
            instructions=question.instructions,
            output_type=_output(way, question.shape),
            retries=_RE_ASKED,
        )
        fit: list[T] = []
        problems: list[str] = []

        async def sensible(answer: A) -> A:
            try:
                fit.append(question.checked(answer))
            except ValueError as error:
                problems.append(self._words(str(error)))
                raise ModelRetry(problems[-1]) from None
            return answer

        agent.output_validator(sensible)
        settings = ModelSettings(
            max_tokens=question.answer_tokens_max, timeout=self._attempt_timeout_s
        )
        try:
            await agent.run(question.material, usage=usage, model_settings=settings)
        except ModelAPIError as error:
            raise self._refusal(error) from None
        except OutputTokenLimitExceeded:
            raise _UnfitError(f"more than {question.answer_tokens_max} tokens") from None
        except (UnexpectedModelBehavior, UserError) as error:
            if problems:
                raise _UnfitError(problems[-1]) from None
            if isinstance(error, UserError):
                raise _WayRefusedError(f"cannot be asked by {way}") from None
            raise _WayRefusedError("answered something that has not the agreed form") from None
        except AgentRunError as error:
            raise self._unavailable(f"failed ({type(error).__name__})") from None
        return fit[-1]

    def _refusal(self, error: ModelAPIError) -> Exception:
        status = error.status_code if isinstance(error, ModelHTTPError) else 0
        said = self._words(str(getattr(error, "body", None) or ""))
        said = f": {said}" if said else ""
        if isinstance(error, ModelAuthenticationError) or status in (401, 403):
            return Unavailable(
                f"The reasoner's server {self._opened.server} refused the API key ({status}).",
                f"Set {KEY_SETTING} to a key that may use {self._opened.spec}.",
            )
        if isinstance(error, ModelQuotaExceededError | ModelNotFoundError):
            return self._unavailable(f"answered {status}{said}")
        if status in PASSING_STATUSES:
            return _PassingFault(f"answered {status}{said}", status, error.retry_after)
        if status:
            return _WayRefusedError(f"answered {status}{said}")
        # Only the kind of fault: the text of some carries the request's headers.
        kind = type(error.__cause__ or error).__name__
        return _PassingFault(f"could not be reached or broke off ({kind})")

    def _charge(self, usage: RunUsage, unreported: int) -> Charge:
        reported = usage.input_tokens + usage.output_tokens
        cost = usage.cost if self._opened.priced else None
        return Charge(
            requests=max(usage.requests, 1),
            input_tokens=usage.input_tokens if reported else unreported,
            output_tokens=usage.output_tokens,
            cost_usd=cost,
        )

    def _words(self, said: str) -> str:
        """At most 200 characters on one line, without the key."""
        text = " ".join(said[:2000].split())
        if self._key:
            text = text.replace(self._key, "[key]")
        return text[:200]

    def _unavailable(self, what: str, *, retry_after_s: float | None = None) -> Unavailable:
        return Unavailable(
            f"The reasoner {self._opened.spec} at {self._opened.server} {what}.",
            f"Check {SPEC_SETTING}, {URL_SETTING} and that the server runs; the work waits.",
            retry_after_s=retry_after_s,
        )


def _output(way: Way, shape: type[A]) -> Any:
    match way:
        case Way.SCHEMA:
            return NativeOutput(shape, name="answer")
        case Way.TOOL:
            return ToolOutput(shape, name="answer", description="Gives the answer.")
        case Way.PROMPT:
            return PromptedOutput(shape, name="answer")
        case _:
            assert_never(way)
