"""Choosing a reasoner by its name.

`offline` is complete and needs nothing; `none` leaves every question open; `PROVIDER:MODEL` asks a
language model about what the offline judge is unsure of, and about everything else. Nothing falls
back: a model that cannot be opened is an error with the way out, because work that silently went
to rules would look like the model's.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from hyphaedb.config import Config
from hyphaedb.providers.embedding import Embedder
from hyphaedb.providers.reasoner import Reasoner


def open_reasoner(
    config: Config,
    embedder: Embedder,
    *,
    rng: random.Random | None = None,
    clock_s: Callable[[], float] = time.time,
    tokens_today: int = 0,
) -> Reasoner | None:
    """The reasoner that `config.reasoner` names; None for "none".

    Opening is cheap: weights load at the first judgement, and no request is made. The embedder
    stays the caller's. `tokens_today` is what the mesh has already spent this day (UTC), from
    `spent.tokens_today` of an earlier process. Raises `Invalid` for an unknown name or a setting
    that cannot be used and `Unsupported` for a missing package.
    """
    if config.reasoner == "none":
        return None
    # Local imports: a language model's client takes a second to load, and the judge pulls in
    # onnxruntime; whoever chose "none" should pay for neither.
    from hyphaedb.providers.judge import open_judge
    from hyphaedb.providers.llm_model import ReasonerSettings, require_llm

    if config.reasoner == "offline":
        from hyphaedb.providers.offline_reasoner import OfflineReasoner

        return OfflineReasoner(embedder, open_judge())
    settings = ReasonerSettings(
        url=config.reasoner_url,
        key=config.reasoner_key,
        timeout_s=config.reasoner_timeout_s,
        tokens_day_max=config.reasoner_tokens_day,
    )
    require_llm(config.reasoner)
    from hyphaedb.providers.llm_reasoner import open_llm

    return open_llm(
        config.reasoner,
        settings,
        first=open_judge(),
        clock_s=clock_s,
        rng=rng or random.Random(),
        tokens_today=tokens_today,
    )
