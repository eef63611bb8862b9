"""Choosing an embedder by its name.

An embedder is named by a short spec, which is also the name a mesh records. Whoever opens the
mesh again can therefore open the same embedder from what the mesh says. Nothing falls back: an
embedder that is not there is an error with the way out, because vectors of two models cannot be
compared and a silent change would spoil every distance in the mesh.
"""

from __future__ import annotations

import random

from hyphaedb.errors import Invalid
from hyphaedb.providers.embedding import Embedder, EmbedderSettings


def open_embedder(
    spec: str, settings: EmbedderSettings | None = None, *, rng: random.Random | None = None
) -> Embedder:
    """The embedder that `spec` names: "minilm", "minilm-fast" or "openai:MODEL".

    Opening is cheap: weights load at the first use, or at `warm`. `rng` spreads retries. Raises
    `Invalid` for an unknown spec or a missing setting and `Unsupported` for a missing package.
    """
    settings = settings or EmbedderSettings()
    kind, _, name = spec.partition(":")
    # The imports are local because each pulls in a runtime (onnxruntime, an HTTP client) that a
    # process which uses the other one should neither load nor need to have installed.
    if spec == "minilm":
        from hyphaedb.providers.minilm import open_minilm

        return open_minilm(settings.threads)
    if spec == "minilm-fast":
        from hyphaedb.providers.minilm import open_minilm_fast

        return open_minilm_fast(settings.threads, settings.cache_dir)
    if kind == "openai" and name:
        from hyphaedb.providers.openai_embedding import OpenAIEmbedder

        return OpenAIEmbedder(name, settings, rng or random.Random())
    raise Invalid(
        f"No embedder is called {spec[:80]!r}.",
        "Use minilm (the default), minilm-fast or openai:MODEL, as in"
        " openai:text-embedding-3-small.",
    )
