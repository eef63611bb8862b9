"""What a result was measured on. Nothing here names the machine, its user or its paths."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from hyphaedb.store.pool import Database


def describe(database: Database) -> dict[str, Any]:
    """Processor, memory, versions and how busy the machine was when the run began."""
    version = database.server.version
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "blas_threads": int(os.environ.get("OPENBLAS_NUM_THREADS", "0")),
        "postgres": f"{version // 10_000}.{version % 10_000}",
        "pgvector": database.server.vector,
        "load_average": [round(x, 1) for x in os.getloadavg()],
        "measured": datetime.now(UTC).date().isoformat(),
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"
