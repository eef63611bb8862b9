"""Opening a language model by `PROVIDER:MODEL`, at its provider or at any OpenAI-compatible server.

Only settings decide where texts go and with which key: with `openai:` or a base URL nothing is read
from the environment. Other providers come with pydantic-ai and, where no key is set, look for
theirs where that library documents it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import httpx2

from hyphaedb.errors import Invalid, Unsupported

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider

OPENAI_URL: Final = "https://api.openai.com/v1"
ANSWER_BYTES_MAX: Final = 8 * 1024 * 1024
"""An answer of 16,000 tokens is below 100 kB; what is larger is a fault or an attack."""

KEY_SETTING: Final = "HYPHAEDB_REASONER_KEY"
URL_SETTING: Final = "HYPHAEDB_REASONER_URL"
SPEC_SETTING: Final = "HYPHAEDB_REASONER"
INSTALL: Final = "Run: pip install 'hyphaedb[llm]'"

_NO_KEY: Final = "none"
"""Sent where a server of one's own wants no key: the header must hold something."""


@dataclass(frozen=True, slots=True)
class ReasonerSettings:
    """What may be set about a language model. `key` never shows in a repr, an error or a log.

    `url`: empty for the provider's own. `timeout_s` bounds one question with all its retries.
    """

    url: str = ""
    key: str = field(default="", repr=False)
    timeout_s: float = 60.0
    tokens_day_max: int = 1_000_000


@dataclass(frozen=True, slots=True)
class OpenedModel:
    """A model and where it is. `held` closes what it holds; `priced`: its public price applies."""

    model: Model
    spec: str
    server: str
    priced: bool
    held: AsyncExitStack


def require_llm(spec: str) -> tuple[str, str]:
    """Provider and model of a spec. `Invalid` if it is none, `Unsupported` without the extra."""
    provider, _, name = spec.partition(":")
    if not provider or not name:
        raise Invalid(
            f"No reasoner is called {spec[:80]!r}.",
            f"Set {SPEC_SETTING} to offline, none or PROVIDER:MODEL, as in openai:gpt-5-mini.",
        )
    if find_spec("pydantic_ai") is None:
        raise Unsupported("A language model as reasoner needs the extra llm.", INSTALL)
    return provider, name


def open_model(spec: str, settings: ReasonerSettings) -> OpenedModel:
    """Opens without a request. Raises `Invalid` for a spec, URL or key that cannot be used and
    `Unsupported` where a package is missing."""
    provider, name = require_llm(spec)
    key = _usable_key(settings.key)
    if settings.url or provider in ("openai", "openai-chat"):
        if not settings.url and not key:
            raise Invalid(
                "OpenAI needs an API key, and none is set for the reasoner.",
                f"Set {KEY_SETTING}, or {URL_SETTING} for a compatible server.",
            )
        return _compatible(spec, name, settings.url, key)
    return _of_provider(spec, provider, key)


def _compatible(spec: str, name: str, base: str, key: str) -> OpenedModel:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    url = _endpoint(base or OPENAI_URL)
    http = httpx2.AsyncClient(transport=BoundedTransport())
    # No retries of its own: ours know the budget, the deadline and what the server asked for.
    client = AsyncOpenAI(base_url=str(url), api_key=key or _NO_KEY, max_retries=0, http_client=http)
    # They would be taken from the environment, and are no other server's business.
    client.organization = client.project = None
    provider: Provider[Any]
    if base:
        # Whether a server takes a schema or a tool is found out by asking it. JSON mode without a
        # schema is refused by some and asked of none: prompted JSON goes as plain text.
        provider = OpenAICompatibleProvider(
            "compatible",
            openai_client=client,
            profile={"supports_json_schema_output": True, "supports_json_object_output": False},
        )
    else:
        provider = OpenAIProvider(openai_client=client)
    held = AsyncExitStack()
    held.push_async_callback(client.close)
    model = OpenAIChatModel(name, provider=provider)
    return OpenedModel(model, spec, url.host, priced=not base, held=held)


def _of_provider(spec: str, provider: str, key: str) -> OpenedModel:
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model
    from pydantic_ai.providers import infer_provider, infer_provider_class

    def opened(name: str) -> Provider[Any]:
        made: Provider[Any] = infer_provider_class(name)(api_key=key)
        return made

    try:
        model = infer_model(spec, opened if key else infer_provider)
    except ImportError:
        raise Unsupported(
            f"The provider {provider!r} needs a package that is not installed.",
            f"Run: pip install 'pydantic-ai-slim[{provider}]'",
        ) from None
    except TypeError:
        raise Invalid(
            f"The provider {provider!r} does not take a key.",
            f"Leave {KEY_SETTING} empty and set up the provider as pydantic-ai documents it.",
        ) from None
    except (UserError, ValueError) as error:
        # The library's own words: they name the variable or the nearest known provider.
        raise Invalid(
            f"The reasoner {spec[:80]!r} cannot be opened: {str(error)[:200]}",
            f"Set {SPEC_SETTING} to PROVIDER:MODEL and {KEY_SETTING} to the provider's key, or"
            f" {URL_SETTING} for an OpenAI-compatible server.",
        ) from None
    held = AsyncExitStack()
    return OpenedModel(model, spec, provider, priced=True, held=held)


class BoundedTransport(httpx2.AsyncHTTPTransport):
    """The usual transport, except that an answer beyond `ANSWER_BYTES_MAX` breaks off."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """See httpx2. The answer's stream raises `RemoteProtocolError` once it is too long."""
        response = await super().handle_async_request(request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Bounded(response.stream)
        return response


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream: Final = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > ANSWER_BYTES_MAX:
                raise httpx2.RemoteProtocolError("the answer is too long")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def _usable_key(given: str) -> str:
    key = given.strip()
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise Invalid(
            "The reasoner's API key holds characters that no key has (spaces, control signs).",
            f"Set {KEY_SETTING} again, without quotes or line breaks.",
        )
    return key


def _endpoint(base: str) -> httpx2.URL:
    try:
        url = httpx2.URL(base.rstrip("/"))
    except httpx2.InvalidURL:
        url = httpx2.URL("")
    if url.scheme not in ("http", "https") or not url.host:
        raise Invalid(
            "The reasoner's base URL is not an http(s) address.",
            f"Set {URL_SETTING}, as in {OPENAI_URL} or http://127.0.0.1:11434/v1.",
        )
    return url
