"""A progress bar on standard error, where that is a terminal; nothing anywhere else."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import rich.progress


class Progress:
    """Shows how far long work has come. Without a ``total`` it shows only that it goes on."""

    def __init__(self, what: str, total: int | None) -> None:
        self._what = what
        self._total = total
        self._bar: rich.progress.Progress | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress as Bar

            self._bar = Bar(console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(self._what, total=self._total)
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, by: int) -> None:
        """Say that so much more is done."""
        if self._bar is not None:
            self._bar.advance(self._task, by)
