"""Which reasoner a setting opens, and what it says when it cannot."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from hyphaedb.config import Config
from hyphaedb.errors import Invalid
from hyphaedb.providers.embedding import Embedder
from hyphaedb.providers.opening import open_embedder
from hyphaedb.providers.reasoner_opening import open_reasoner

LOCAL = "http://127.0.0.1:9/v1"


@pytest.fixture
async def embedder() -> AsyncIterator[Embedder]:
    opened = open_embedder("minilm")
    yield opened
    await opened.close()


def in_a_process(code: str) -> str:
    """What the code prints in a process of its own, with no key in its environment."""
    environment = {name: value for name, value in os.environ.items() if "KEY" not in name}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout


async def test_offline_is_the_default_and_judges(embedder: Embedder) -> None:
    reasoner = open_reasoner(Config(), embedder)
    assert reasoner is not None
    assert reasoner.name.startswith("offline-1+offline-judge")
    await reasoner.close()


async def test_none_is_no_reasoner(embedder: Embedder) -> None:
    assert open_reasoner(replace(Config(), reasoner="none"), embedder) is None


@pytest.mark.parametrize("spec", ["openai:gpt-5-mini", "ollama:llama3", "mine:some/model:7b"])
async def test_any_provider_s_name_may_stand_before_a_model_at_a_server_of_one_s_own(
    embedder: Embedder, spec: str
) -> None:
    config = replace(Config(), reasoner=spec, reasoner_url=LOCAL)
    reasoner = open_reasoner(config, embedder)
    assert reasoner is not None
    assert reasoner.name.startswith(spec)
    await reasoner.close()
    await reasoner.close()


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"reasoner": "clever"}, "HYPHAEDB_REASONER to offline, none"),
        ({"reasoner": "openai:"}, "HYPHAEDB_REASONER to offline, none"),
        ({"reasoner": "openai:m"}, "HYPHAEDB_REASONER_KEY"),
        ({"reasoner": "nobody:m"}, "HYPHAEDB_REASONER to PROVIDER:MODEL"),
        ({"reasoner": "openai:m", "reasoner_key": "two words"}, "without quotes"),
        ({"reasoner": "openai:m", "reasoner_url": "ftp://x/v1"}, "HYPHAEDB_REASONER_URL"),
    ],
)
async def test_a_setting_that_cannot_be_used_says_what_to_set(
    embedder: Embedder, changes: dict[str, str], named: str
) -> None:
    with pytest.raises(Invalid) as caught:
        open_reasoner(replace(Config(), **changes), embedder)  # type: ignore[arg-type]
    assert named in caught.value.remedy
    assert "two words" not in str(caught.value)


async def test_what_was_spent_earlier_today_counts(embedder: Embedder) -> None:
    config = replace(Config(), reasoner="openai:m", reasoner_url=LOCAL)
    reasoner = open_reasoner(config, embedder, tokens_today=1234)
    assert reasoner is not None
    assert reasoner.spent.tokens_today == 1234
    await reasoner.close()


def test_without_the_extra_a_model_is_unsupported_with_the_command_to_install_it() -> None:
    said = in_a_process("""
        import sys
        sys.modules["pydantic_ai"] = None
        from hyphaedb.errors import Unsupported
        from hyphaedb.providers.llm_model import require_llm
        try:
            require_llm("openai:m")
        except Unsupported as error:
            print(error)
        """)
    assert "pip install 'hyphaedb[llm]'" in said


def test_offline_loads_nothing_of_the_extra() -> None:
    said = in_a_process("""
        import sys
        from hyphaedb.config import Config
        from hyphaedb.providers.opening import open_embedder
        from hyphaedb.providers.reasoner_opening import open_reasoner
        open_reasoner(Config(), open_embedder("minilm"))
        print({"pydantic_ai", "openai", "pydantic"} & set(sys.modules))
        """)
    assert said.strip() == "set()"
