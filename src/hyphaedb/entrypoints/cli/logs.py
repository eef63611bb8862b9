"""Logs: one event a line on standard error, its fields behind it."""

from __future__ import annotations

import logging
import sys

#: What every record carries anyway; the rest are the event's own fields.
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class Fields(logging.Formatter):
    """Time, level, logger, event, then its fields as name=value."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  logging's name
        """The line with the record's own fields."""
        own = {k: v for k, v in vars(record).items() if k not in _STANDARD}
        told = "".join(f" {name}={value!r}" for name, value in own.items())
        return super().formatMessage(record) + told


def to_stderr(level: int) -> None:
    """Send our events there from ``level`` on, and from other libraries what is a warning."""
    if not logging.getLogger().handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(Fields())
        logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("hyphaedb").setLevel(level)
