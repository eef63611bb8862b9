"""Stop-watches: wall time, and the CPU time of this process with its server's.

On a machine that does other things too, wall time says how busy it was. CPU time of the client
plus the Postgres processes hardly changes, so ratios are formed of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil


@dataclass(slots=True)
class Spent:
    """Seconds a block took: on the clock, of this process, of the server's processes."""

    wall_s: float = 0.0
    client_s: float = 0.0
    server_s: float = 0.0

    @property
    def cpu_s(self) -> float:
        """Processor time of both sides."""
        return self.client_s + self.server_s


class Watch:
    """Measures blocks against one Postgres; without a server only this process counts."""

    def __init__(self, data_dir: Path | None = None) -> None:
        self._server: psutil.Process | None = None
        if data_dir is not None:
            first = (data_dir / "postgres" / "postmaster.pid").read_text().splitlines()[0]
            self._server = psutil.Process(int(first))

    @contextmanager
    def measure(self) -> Iterator[Spent]:
        """Fill a :class:`Spent` with what the block took."""
        spent = Spent()
        server, client, wall = self._server_s(), time.process_time(), time.perf_counter()
        try:
            yield spent
        finally:
            spent.wall_s = time.perf_counter() - wall
            spent.client_s = time.process_time() - client
            spent.server_s = max(0.0, self._server_s() - server)

    def _server_s(self) -> float:
        """CPU seconds of all live processes of the server; connections stay open in a block."""
        if self._server is None:
            return 0.0
        return sum(_cpu_s(child) for child in self._server.children())


def _cpu_s(process: psutil.Process) -> float:
    """Nanosecond-exact where the kernel keeps it so, else in ticks of ten milliseconds."""
    try:
        precise = Path(f"/proc/{process.pid}/schedstat")
        if precise.exists():
            return int(precise.read_text().split()[0]) / 1e9
        times = process.cpu_times()
    except (OSError, psutil.Error):
        return 0.0
    return float(times.user + times.system)


def quantiles_ms(seconds: Sequence[float]) -> dict[str, float]:
    """p50, p95 and p99 in milliseconds."""
    parts = np.percentile(np.array(seconds) * 1e3, [50, 95, 99])
    return {name: round(float(x), 3) for name, x in zip(("p50", "p95", "p99"), parts, strict=True)}


def median_ms(seconds: Sequence[float]) -> float:
    """The median in milliseconds."""
    return round(float(np.median(seconds)) * 1e3, 3)


def ratio(one: float, other: float) -> float:
    """``one / other`` in three significant digits; infinite where ``other`` is nothing."""
    return float(f"{one / other:.3g}") if other > 0 else float("inf")
