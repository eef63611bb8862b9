"""Commands about meshes as such, and about the database's schema."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from hyphaedb.entrypoints.cli.calling import JsonOption, UrlOption, run
from hyphaedb.entrypoints.cli.place import Place, server_url, settings
from hyphaedb.entrypoints.cli.printing import age, counted, say, say_json, table
from hyphaedb.errors import Invalid
from hyphaedb.model import MeshInfo


def add(app: typer.Typer) -> None:
    """Put these commands on the command line."""
    _meshes(app)
    _database(app)


def _meshes(app: typer.Typer) -> None:
    group = typer.Typer(help="Meshes: one for each project.", no_args_is_help=True)
    app.add_typer(group, name="mesh")

    @group.command("create")
    def create(
        name: Annotated[str, typer.Argument(help="Its name, such as the repository's.")],
        url: UrlOption = None,
        as_json: JsonOption = False,
    ) -> None:
        """Make a mesh. Nothing else ever does, so a typo cannot."""
        made = run(_create(name, url))
        if as_json:
            say_json(made)
        else:
            say([f"Made the mesh {made.name} for {made.model} ({made.dimension} numbers)."])

    @group.command("drop")
    def drop(
        name: Annotated[str, typer.Argument(help="The mesh to erase.")],
        yes: Annotated[bool, typer.Option("--yes", help="Do not ask for the name again.")] = False,
        url: UrlOption = None,
        as_json: JsonOption = False,
    ) -> None:
        """Erase a mesh and everything in it, for good."""
        if not yes:
            _sure(name)
        erased = run(_drop(name, url))
        if as_json:
            say_json({"mesh": name, "cells": erased})
        else:
            say([f"Dropped the mesh {name} with {counted(erased, 'cell')}."])

    @group.command("list")
    def list_meshes(url: UrlOption = None, as_json: JsonOption = False) -> None:
        """All meshes, by name."""
        found = run(_list(url))
        if as_json:
            say_json({"meshes": found})
        elif not found:
            say(["There is no mesh yet. Make one: hyphaedb mesh create NAME"])
        else:
            rows = [(m.name, _state(m), age(m.created_at), m.model) for m in found]
            say(table(("name", "state", "age", "model"), rows))


def _sure(name: str) -> None:
    """Ask for the name again; raises Invalid where nobody can answer or another name comes."""
    if not sys.stdin.isatty():
        raise Invalid(
            "Nobody is there to confirm it.", "Pass --yes to erase the mesh all the same."
        )
    if typer.prompt(f"Everything in {name!r} will be gone. Its name again", err=True) != name:
        raise Invalid("That is another name; nothing was erased.", "Type the mesh's own name.")


def _state(mesh: MeshInfo) -> str:
    if mesh.paused:
        return "paused"
    return "shadow" if mesh.shadow else "running"


async def _create(name: str, url: str | None) -> MeshInfo:
    config = settings()
    if url or config.url:
        from hyphaedb.remote.connection import Connection
        from hyphaedb.remote.mesh import remote_create

        async with Connection.to(url or config.url) as connection:
            return await remote_create(connection, name)
    from hyphaedb.mesh import Home

    async with await Home.open(config) as home:
        return await home.create(name)


async def _drop(name: str, url: str | None) -> int:
    config = settings()
    # A server that runs here on the same database works the mesh, so it is asked to let go.
    server = server_url(Place(None, url, False), config)
    if server:
        from hyphaedb.remote.connection import Connection
        from hyphaedb.remote.mesh import remote_drop

        async with Connection.to(server) as connection:
            return await remote_drop(connection, name)
    from hyphaedb.mesh import Home

    async with await Home.open(config) as home:
        return await home.drop(name)


async def _list(url: str | None) -> Sequence[MeshInfo]:
    config = settings()
    if url or config.url:
        from hyphaedb.remote.connection import Connection
        from hyphaedb.remote.mesh import remote_meshes

        async with Connection.to(url or config.url) as connection:
            return await remote_meshes(connection)
    from hyphaedb.mesh import Home

    async with await Home.open(config) as home:
        return await home.meshes()


def _database(app: typer.Typer) -> None:
    group = typer.Typer(help="The database's schema.", no_args_is_help=True)
    app.add_typer(group, name="db")

    @group.command("migrate")
    def migrate(as_json: JsonOption = False) -> None:
        """Bring the schema up to date."""
        applied = run(_migrate())
        if as_json:
            say_json({"applied": applied})
        elif applied:
            say([f"Applied {', '.join(f'{number:04}' for number in applied)}."])
        else:
            say(["The schema is up to date."])

    @group.command("status")
    def status(as_json: JsonOption = False) -> None:
        """Every migration and when it was applied."""
        rows = run(_status())
        if as_json:
            say_json({"migrations": rows})
        else:
            shown = [(f"{r['version']:04}", r["name"], r["applied_at"] or "not yet") for r in rows]
            say(table(("number", "name", "applied"), [tuple(map(str, row)) for row in shown]))


async def _migrate() -> list[int]:
    from hyphaedb.mesh import Home

    async with await Home.open(settings(), migrates=False) as home:
        return await home.migrate()


async def _status() -> list[dict[str, object]]:
    from hyphaedb.mesh import Home

    async with await Home.open(settings(), migrates=False) as home:
        return [
            {"version": m.version, "name": m.name, "applied_at": m.applied_at}
            for m in await home.migration_status()
        ]
