"""The seam to embedding models: what every embedder promises, and the panel they all embed.

Which embedders there are is not known here, but in ``opening``.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from hyphaedb.errors import Invalid, Unavailable

OPENAI_URL: Final = "https://api.openai.com/v1"


class Embedder(Protocol):
    """Turns texts into points of one vector space. Safe to call from many tasks at once."""

    @property
    def model(self) -> str:
        """The spec that opens this embedder again; a mesh records it."""

    @property
    def dimension(self) -> int:
        """Numbers in each vector."""

    @property
    def window_tokens(self) -> int:
        """The longest text the model reads at once, as `measure` counts."""

    def measure(self, text: str) -> int:
        """Size of a text in tokens, or an upper bound where the model's tokeniser is not known.

        Additive over pieces that are split at white space.
        """

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of shape (len(texts), dimension), float32, rows of length 1, in order.

        A row depends on its text alone, not on the others in the call. Raises `Invalid` for a
        blank text or one beyond the window (`windows.embed_bodies` takes those), `Unavailable`
        when the model cannot be reached, and `Conflict` when it answers another dimension.
        """

    async def panel(self) -> NDArray[np.float32] | None:
        """Vectors of the calibration panel that ships with HyphaeDB, computed at the first call.

        None for an embedder without one: calibration then waits for the mesh's own cells.
        """

    async def warm(self) -> None:
        """Pays what the first call would pay (loading the weights), so that no caller waits."""

    async def close(self) -> None:
        """Releases threads and connections. Closing twice is harmless."""


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """What may be set about an embedder. Each embedder reads the fields that concern it.

    `dimension` is only needed where the model's own is not known, or to ask one of OpenAI's
    third-generation models for fewer numbers. `key` never shows in a repr or an error; empty means
    none. `timeout_s` bounds one request with all its retries. `cache_dir` is minilm-fast's.
    """

    threads: int = 1
    cache_dir: Path | None = None
    url: str = OPENAI_URL
    key: str = field(default="", repr=False)
    dimension: int | None = None
    window_tokens: int = 8191
    timeout_s: float = 30.0


def require_texts(texts: Sequence[str]) -> None:
    """Raises `Invalid` for a text with nothing in it: a blank text has no place in the space."""
    for number, text in enumerate(texts):
        if not text.strip():
            raise Invalid(
                f"Text {number + 1} of {len(texts)} is blank, so it has no embedding.",
                "Leave it out, or give it words.",
            )


def unit_rows(rows: NDArray[np.floating], model: str) -> NDArray[np.float32]:
    """The rows scaled to length 1, float32. `model` names the culprit of a row that cannot be."""
    lengths = np.linalg.norm(rows.astype(np.float64, copy=False), axis=1, keepdims=True)
    if not np.all(np.isfinite(lengths) & (lengths > 0.0)):
        raise Unavailable(
            f"The model {model} answered a vector without a direction (all zero, or not finite).",
            "Try again; if it stays, the model or its server is broken: choose another one.",
        )
    unit: NDArray[np.float32] = (rows / lengths).astype(np.float32)
    return unit


@functools.cache
def panel_texts() -> tuple[str, ...]:
    """The 256 short statements of the calibration panel; unrelated topics of engineering work."""
    source = resources.files("hyphaedb.providers").joinpath("data/panel.txt")
    return tuple(source.read_text(encoding="utf-8").splitlines())


@functools.cache
def shipped_panel(model: str) -> NDArray[np.float32] | None:
    """The panel's vectors as they ship for ``model``, read-only; None where none do.

    Computing them costs 1.5 s of CPU, which every one-shot command would pay. A test holds the
    file against the texts.
    """
    source = resources.files("hyphaedb.providers").joinpath(f"data/panel-{model}.npy")
    if not source.is_file():
        return None
    with source.open("rb") as opened:
        vectors = unit_rows(np.load(io.BytesIO(opened.read())), model)
    vectors.flags.writeable = False
    return vectors


class PanelVectors:
    """The panel's vectors for one embedder, kept from the first call on."""

    def __init__(self) -> None:
        self._vectors: NDArray[np.float32] | None = None

    async def of(self, embedder: Embedder) -> NDArray[np.float32]:
        """The vectors, read-only. Two first callers at once both compute them, and agree."""
        if self._vectors is None:
            self._vectors = shipped_panel(embedder.model)
        if self._vectors is None:
            vectors = await embedder.embed(panel_texts())
            vectors.flags.writeable = False
            self._vectors = vectors
        return self._vectors
