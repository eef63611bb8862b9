"""Vectors on the wire: numpy float32 in and out, ``halfvec`` in the tables.

A halfvec stores 16-bit floats: about three decimal digits, which costs less recall than the
index itself does and halves every table. Values beyond 65,504 do not fit; ours are unit vectors.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg.adapt import AdaptersMap, Buffer, Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo

Vector = NDArray[np.float32]

_HEAD = struct.Struct(">HH")


class _HalfvecLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> Vector:
        return np.frombuffer(data, dtype=">f2", offset=_HEAD.size).astype(np.float32)


class _HalfvecDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Any) -> bytes:
        if obj.ndim != 1:
            raise ValueError(f"a vector has one axis, not {obj.ndim}")
        return _HEAD.pack(obj.shape[0], 0) + bytes(obj.astype(">f2").tobytes())


def register(adapters: AdaptersMap, halfvec_oid: int) -> None:
    """Teach one connection to send one-axis numpy arrays as halfvec, and to read them back."""
    dumper = type("HalfvecDumper", (_HalfvecDumper,), {"oid": halfvec_oid})
    adapters.register_dumper(np.ndarray, dumper)
    adapters.register_loader(halfvec_oid, _HalfvecLoader)
    adapters.types.add(TypeInfo("halfvec", halfvec_oid, 0))


def matrix(blocks: list[bytes], dimension: int) -> Vector:
    """Concatenated ``halfvec_send`` outputs as one (n, dimension) float32 matrix."""
    raw = np.frombuffer(b"".join(blocks), dtype=">f2").reshape(-1, dimension + 2)
    return raw[:, 2:].astype(np.float32)
