"""Wake-ups arrive at once, then at most ten a second, and failing to send one harms nobody."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from hyphaedb.errors import Unavailable
from hyphaedb.store.notify import INBOX, WORK, Notifier, listen
from hyphaedb.store.pool import Database


async def test_a_poke_is_heard_on_its_channel_only(database: Database) -> None:
    notifier = Notifier(database)
    async with aclosing(listen(database, [WORK])) as ear:
        assert await anext(ear) == ""
        notifier.poke(INBOX)
        notifier.poke(WORK)
        heard = await asyncio.wait_for(anext(ear), 5)
    await notifier.close()
    assert heard == WORK


async def test_a_storm_of_pokes_is_a_handful_of_notifications(database: Database) -> None:
    notifier = Notifier(database, quiet_s=0.2)
    heard = 0
    loop = asyncio.get_running_loop()
    async with aclosing(listen(database, [WORK])) as ear:
        await anext(ear)
        began = loop.time()
        for _ in range(1_000):
            notifier.poke(WORK)
            await asyncio.sleep(0)
        while heard < 2:
            assert await asyncio.wait_for(anext(ear), 5) == WORK
            heard += 1
        took = loop.time() - began
    await notifier.close()
    # The first at once, the second not before the quiet time was over.
    assert took >= 0.2


async def test_a_listener_whose_connection_is_lost_says_so(database: Database) -> None:
    async with aclosing(listen(database, [WORK])) as ear:
        await anext(ear)
        connection = await database.connect()
        await connection.execute(
            """SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
               WHERE datname = current_database() AND pid <> pg_backend_pid()"""
        )
        await connection.close()
        with pytest.raises(Unavailable):
            await asyncio.wait_for(anext(ear), 5)


async def test_a_notifier_that_never_fired_closes_at_once(database: Database) -> None:
    await Notifier(database).close()
