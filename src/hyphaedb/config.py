"""Every setting: its default, what it means, and what raising it costs.

One frozen object, read once from an injected mapping (the caller passes ``os.environ``), so that
nothing below the faces ever looks at the environment. ``SETTINGS`` is the single source for the
code, for ``hyphaedb config`` and for docs/settings.md, which a test compares with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from hyphaedb.errors import Invalid

PREFIX = "HYPHAEDB_"
#: Read by the test suite alone: the server to test against.
TEST_DATABASE = PREFIX + "TEST_DATABASE_URL"


@dataclass(frozen=True, slots=True)
class Setting:
    """One documented setting. ``least`` and ``most`` are inclusive; None leaves that side open."""

    name: str
    meaning: str
    raising: str
    least: float | None = None
    most: float | None = None
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Config:
    """The effective settings of one process. Ids, times and weights keep their unit in the name."""

    database_url: str = ""
    data_dir: str = ""
    mesh: str = "default"
    host: str = "127.0.0.1"
    port: int = 8642
    url: str = ""
    embedder: str = "minilm"
    embedder_url: str = "https://api.openai.com/v1"
    embedder_key: str = ""
    embedder_dimension: int = 0
    embedder_timeout_s: float = 30.0
    reasoner: str = "offline"
    reasoner_url: str = ""
    reasoner_key: str = ""
    reasoner_timeout_s: float = 60.0
    reasoner_tokens_day: int = 1_000_000
    pool_size: int = 8
    statement_timeout_s: float = 30.0

    energy_base: float = 10.0
    omega_min: float = 0.05
    links_per_cell: int = 24
    link_candidates: int = 96
    settled_max: int = 50_000
    delivered_max: int = 2_000
    gate: float = 0.40
    relay_min: float = 0.15
    weights: str = "shipped"
    calibration: str = "panel"
    position_decay: float = 0.1
    attach_nearest: int = 8
    panel_size: int = 256
    diff_ttl_days: int = 30
    dormancy: float = 0.1

    lease_s: float = 30.0
    poll_s: float = 0.5
    batch_diffs: int = 64
    batch_above: int = 32
    batch_wait_ms: int = 100
    attempts_max: int = 8
    pending_max: int = 20_000
    tail_normal: int = 2_000
    tail_max: int = 20_000
    drain_batch: int = 64
    sweep_s: float = 60.0
    sweep_newcomer_items: int = 20

    body_chars_max: int = 8_000
    recall_k: int = 10
    recall_floor: float = 0.25
    recall_tokens: int = 4_000
    inbox_items: int = 20
    inbox_tokens: int = 2_000
    inbox_lease_s: float = 300.0


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "database_url",
        "Postgres to use; empty means the embedded one. A URL that is set but wrong is an error.",
        "nothing; never falls back",
        secret=True,
    ),
    Setting(
        "data_dir",
        "Where the embedded Postgres keeps its data; empty means the user's data directory,"
        " for root /var/lib/hyphaedb.",
        "nothing",
    ),
    Setting("mesh", "The mesh the command line works in when none is named.", "nothing"),
    Setting(
        "host",
        "Address the server listens on; only loopback until there are keys.",
        "a wider address is refused",
    ),
    Setting("port", "Port of the server.", "nothing", 1, 65535),
    Setting("url", "A running HyphaeDB server for the command line; empty means local.", "nothing"),
    Setting(
        "embedder",
        "minilm, minilm-fast or openai:MODEL.",
        "a mesh keeps the model it was made with; another is refused",
    ),
    Setting("embedder_url", "Base URL of an OpenAI-compatible endpoint.", "nothing"),
    Setting("embedder_key", "Key for that endpoint.", "nothing", secret=True),
    Setting(
        "embedder_dimension",
        "Numbers per vector asked of that endpoint; 0 means the model's own.",
        "memory and index size grow in proportion",
        0,
        3500,
    ),
    Setting("embedder_timeout_s", "Longest wait for one embedding call.", "slow stores", 1, 600),
    Setting(
        "reasoner",
        "offline, none or PROVIDER:MODEL (extra llm), as in openai:gpt-5-mini.",
        "a provider's model is sent the texts and costs its tokens",
    ),
    Setting(
        "reasoner_url",
        "Base URL of any OpenAI-compatible server for PROVIDER:MODEL; empty means the provider's.",
        "nothing",
    ),
    Setting("reasoner_key", "Key for that provider or server.", "nothing", secret=True),
    Setting(
        "reasoner_timeout_s",
        "Longest wait for one answer of the reasoner, all tries included.",
        "work that waits for a hanging server waits longer",
        1,
        600,
    ),
    Setting(
        "reasoner_tokens_day",
        "Tokens a mesh may spend on PROVIDER:MODEL in a day (UTC); then the work waits.",
        "a larger bill",
        50_000,
        10**9,
    ),
    Setting("pool_size", "Database connections a process may hold.", "server memory", 2, 200),
    Setting(
        "statement_timeout_s",
        "Longest any one statement may run, index builds excepted.",
        "a stuck query holds its connection longer",
        1,
        3600,
    ),
    Setting(
        "energy_base",
        "E_base of Eq. 5: how far a diff of salience 1 and multiplier 1 travels.",
        "more cells settled by each wave",
        0.1,
        20,
    ),
    Setting("omega_min", "Least weight of a semantic link.", "weak links get cheaper", 0.001, 1),
    Setting(
        "links_per_cell",
        "Own links of a layer-0 cell (M); layers 1 and 2 take two and one thirds of it.",
        "16 bytes of mirror a link, longer waves",
        4,
        64,
    ),
    Setting(
        "link_candidates",
        "Nearest cells considered before the diversity selection.",
        "linking time grows with its square",
        16,
        256,
    ),
    Setting("settled_max", "Cells one wave may settle.", "longest wave", 1, 5_000_000),
    Setting("delivered_max", "Agents one diff may reach.", "longest commit", 1, 100_000),
    Setting("gate", "sigma_min: least score that is delivered.", "fewer, surer deliveries", 0, 1),
    Setting(
        "relay_min", "Least relevance at which a cell passes a diff on.", "smaller waves", 0, 1
    ),
    Setting(
        "weights",
        "shipped, paper (0.6/0.3/0.1) or three numbers r/i/s: the parts of the score.",
        "nothing",
    ),
    Setting(
        "calibration",
        "panel: cosines are read against the mesh's own panel; fixed: one yardstick for all.",
        "nothing",
    ),
    Setting(
        "position_decay",
        "lambda of Eq. 2, per active day of the agent.",
        "positions follow recent work faster",
        0,
        10,
    ),
    Setting("attach_nearest", "Nearest cells an agent is attached to.", "wider reach", 1, 64),
    Setting("panel_size", "Cells of the calibration panel.", "a longer product a diff", 16, 4096),
    Setting("diff_ttl_days", "How long a diff is live.", "longer sweeps", 1, 3650),
    Setting(
        "dormancy", "Salience below which a cell takes no part in gossip.", "fades sooner", 0, 1
    ),
    Setting("lease_s", "How long a worker owns a mesh unless renewed.", "slower take-over", 3, 600),
    Setting(
        "poll_s", "Longest time between two looks for work.", "slower without wake-ups", 0.05, 60
    ),
    Setting("batch_diffs", "Diffs settled in one transaction.", "latency under load", 1, 1000),
    Setting("batch_above", "Pending diffs from which the worker batches.", "nothing", 1, 10_000),
    Setting("batch_wait_ms", "How long a batch gathers under load.", "latency under load", 0, 5000),
    Setting("attempts_max", "Tries before a diff is set aside as dead.", "longer retries", 1, 100),
    Setting(
        "pending_max", "Unsettled diffs from which new writes are refused.", "backlog", 1, 10**6
    ),
    Setting(
        "tail_normal", "Unindexed rows the worker allows before it hurries.", "recall", 1, 10**6
    ),
    Setting("tail_max", "Unindexed rows from which new writes are refused.", "recall", 1, 10**7),
    Setting("drain_batch", "Rows moved into the index at a time.", "longer transactions", 1, 5000),
    Setting("sweep_s", "Time between anti-entropy sweeps.", "slower healing", 0.05, 86_400),
    Setting("sweep_newcomer_items", "Items a newcomer gets from the past.", "noise", 0, 1000),
    Setting("body_chars_max", "Characters in a cell's body.", "diluted vectors", 100, 100_000),
    Setting("recall_k", "Hits of a recall.", "longer answers", 1, 200),
    Setting("recall_floor", "Least evidence of an answer.", "more empty answers", 0, 1),
    Setting("recall_tokens", "Token budget of a recall.", "longer prompts", 50, 200_000),
    Setting("inbox_items", "Items of one inbox page.", "longer prompts", 1, 500),
    Setting("inbox_tokens", "Token budget of one inbox page.", "longer prompts", 50, 200_000),
    Setting("inbox_lease_s", "How long a leased item is hidden.", "slower redelivery", 1, 86_400),
)


def _parse(setting: Setting, default: Any, text: str) -> Any:
    """One value from its text, in the type of its default and within its range."""
    variable = PREFIX + setting.name.upper()
    if isinstance(default, str):
        return text
    try:
        value = int(text) if isinstance(default, int) else float(text)
    except ValueError:
        kind = "a whole number" if isinstance(default, int) else "a number"
        raise Invalid(f"{variable} is {text!r}.", f"Set it to {kind}.") from None
    low, high = setting.least, setting.most
    if not (low is None or value >= low) or not (high is None or value <= high):
        raise Invalid(f"{variable} is {text}.", f"Set it between {low} and {high}.")
    return value


def load(environment: Mapping[str, str]) -> Config:
    """The settings from ``HYPHAEDB_*`` variables; raises Invalid for a bad or unknown one."""
    config = Config()
    known = {PREFIX + s.name.upper(): s for s in SETTINGS}
    changes: dict[str, Any] = {}
    for variable, text in environment.items():
        if not variable.startswith(PREFIX) or variable == TEST_DATABASE:
            continue
        if variable not in known:
            raise Invalid(f"{variable} is not a setting.", "docs/settings.md lists them all.")
        setting = known[variable]
        changes[setting.name] = _parse(setting, getattr(config, setting.name), text)
    return replace(config, **changes)


def shown(config: Config) -> dict[str, Any]:
    """The effective values by name, secrets masked: safe to print."""
    secret = {s.name for s in SETTINGS if s.secret}
    values = {f.name: getattr(config, f.name) for f in fields(config)}
    return {k: ("***" if k in secret and v else v) for k, v in values.items()}
