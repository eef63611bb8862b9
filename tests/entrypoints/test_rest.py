"""The HTTP face: shapes, problems, borders, pages. What a verb does is tested where it lives."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import quote

import httpx2
import pytest

from hyphaedb.model import CellType, NewCell
from hyphaedb.remote import RemoteMesh


@pytest.fixture
def root(mesh_name: str) -> str:
    return f"/v1/meshes/{quote(mesh_name, safe='')}"


def problem(response: httpx2.Response) -> tuple[int, str]:
    """The status and code of a problem, once it is seen to be whole."""
    assert response.headers["content-type"] == "application/problem+json"
    told = response.json()
    assert told["status"] == response.status_code
    assert told["detail"]
    assert told["remedy"]
    assert told["type"] == f"urn:hyphaedb:error:{told['code']}"
    return response.status_code, told["code"]


class TestShapes:
    async def test_a_new_cell_is_created_and_a_repeat_is_not(
        self, http: httpx2.AsyncClient, root: str
    ) -> None:
        await http.post(f"{root}/agents", json={"name": "ada"})
        body = {"cell": {"body": "Deploys stop at noon."}, "agent": "ada"}

        first = await http.post(f"{root}/cells", json=body)
        again = await http.post(f"{root}/cells", json=body)

        assert (first.status_code, first.json()["outcome"]) == (201, "created")
        assert (again.status_code, again.json()["outcome"]) == (200, "repeated")
        assert again.json()["cell_id"] == first.json()["cell_id"]

    @pytest.mark.parametrize("verb", ["update", "supersede"])
    async def test_new_words_alone_keep_what_else_a_cell_is(
        self, remote: RemoteMesh, verb: str
    ) -> None:
        await remote.register("ada")
        old = NewCell(f"Deploys {verb} at noon.", CellType.RISK, 0.9, tags=("ops",), ref="main")
        stored = await remote.store(old, agent="ada")

        replaced = await getattr(remote, verb)(stored.cell_id, "Deploys stop at ten.", agent="ada")

        new = await remote.cell(replaced.cell_id)
        assert (new.type, new.salience, new.tags, new.ref) == (CellType.RISK, 0.9, ("ops",), "main")

    async def test_the_same_idempotency_key_gets_the_first_answer(
        self, http: httpx2.AsyncClient, root: str
    ) -> None:
        await http.post(f"{root}/agents", json={"name": "ada"})
        body = {"cell": {"body": "The cache holds for an hour."}, "agent": "ada"}
        key = {"Idempotency-Key": "retry-1"}

        first = await http.post(f"{root}/cells", json=body, headers=key)
        again = await http.post(f"{root}/cells", json=body, headers=key)

        assert again.json()["cell_id"] == first.json()["cell_id"]

    async def test_the_same_key_for_something_else_is_a_conflict(
        self, http: httpx2.AsyncClient, root: str
    ) -> None:
        await http.post(f"{root}/agents", json={"name": "ada"})
        key = {"Idempotency-Key": "retry-2"}
        one = {"cell": {"body": "One thing."}, "agent": "ada"}
        other = {"cell": {"body": "Quite another."}, "agent": "ada"}

        await http.post(f"{root}/cells", json=one, headers=key)
        refused = await http.post(f"{root}/cells", json=other, headers=key)

        assert problem(refused) == (409, "conflict")

    @pytest.mark.parametrize(
        ("body", "named"),
        [
            (b"{", "JSON"),
            (b"[" * 50_000, "cannot be read"),
            (b"[]", "The request"),
            (b'{"nam": "ada"}', "nam"),
            (b'{"name": "ada", "kind": "robot"}', "kind"),
            (b'{"name": "ada", "attention": "much"}', "attention"),
            (b'{"name": "\xff"}', "cannot be read"),
        ],
    )
    async def test_a_malformed_request_says_where_and_what_to_do(
        self, http: httpx2.AsyncClient, root: str, body: bytes, named: str
    ) -> None:
        headers = {"Content-Type": "application/json"}
        refused = await http.post(f"{root}/agents", content=body, headers=headers)

        assert problem(refused)[1] == "invalid"
        assert named in refused.json()["detail"]
        assert (await http.get(f"{root}/agents")).json()["items"] == []

    async def test_a_cursor_that_is_no_number_is_refused(
        self, http: httpx2.AsyncClient, root: str
    ) -> None:
        await http.post(f"{root}/agents", json={"name": "ada"})

        refused = await http.get(f"{root}/agents/ada/inbox?after=yesterday")

        assert problem(refused) == (422, "invalid")

    async def test_names_with_slashes_and_percent_signs_are_whole(self, remote: RemoteMesh) -> None:
        for name in ("team/ada", "50%2F50", "ärger & co?#"):
            await remote.register(name)
            assert (await remote.inbox(name)).unread == 0
            assert (await remote.retire(name)).name == name

    async def test_a_path_that_leads_nowhere_is_a_problem(self, http: httpx2.AsyncClient) -> None:
        assert problem(await http.get("/v2/anything")) == (404, "not_found")
        assert problem(await http.put("/v1/meshes")) == (405, "invalid")


class TestPages:
    async def test_pages_together_are_the_list_and_a_newcomer_does_not_shift_them(
        self, http: httpx2.AsyncClient, root: str, remote: RemoteMesh
    ) -> None:
        for name in ("a", "c", "e", "g"):
            await remote.register(name)

        first = (await http.get(f"{root}/agents", params={"limit": 2})).json()
        await remote.register("b")
        rest = (await http.get(f"{root}/agents", params={"cursor": first["next"]})).json()

        assert [a["name"] for a in first["items"]] == ["a", "c"]
        assert [a["name"] for a in rest["items"]] == ["e", "g"]
        assert rest["next"] is None

    @pytest.mark.parametrize("cursor", ["yesterday", "", "W10", "eyJhIjoxfQ"])
    async def test_a_cursor_that_was_not_given_out_is_refused(
        self, http: httpx2.AsyncClient, root: str, cursor: str
    ) -> None:
        refused = await http.get(f"{root}/agents", params={"cursor": cursor})

        assert problem(refused) == (422, "invalid")

    async def test_a_cursor_of_another_list_is_refused(
        self, http: httpx2.AsyncClient, root: str, remote: RemoteMesh
    ) -> None:
        await remote.register("a")
        await remote.register("b")
        cursor = (await http.get(f"{root}/agents", params={"limit": 1})).json()["next"]

        refused = await http.get(f"{root}/beacons", params={"cursor": cursor})

        assert problem(refused) == (422, "invalid")


class TestBorder:
    @pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "[::1", ""])
    async def test_another_name_or_port_is_refused(
        self, http: httpx2.AsyncClient, host: str
    ) -> None:
        assert problem(await http.get("/healthz", headers={"Host": host})) == (403, "forbidden")

    async def test_the_loopback_names_with_our_port_are_served(
        self, http: httpx2.AsyncClient, server: str
    ) -> None:
        port = server.rpartition(":")[2]
        for name in ("127.0.0.1", "localhost", "[::1]"):
            answer = await http.get("/healthz", headers={"Host": f"{name}:{port}"})
            assert answer.json() == {"status": "ok", "service": "hyphaedb"}

    @pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
    async def test_a_page_from_elsewhere_is_refused(
        self, http: httpx2.AsyncClient, origin: str
    ) -> None:
        refused = await http.get("/healthz", headers={"Origin": origin})

        assert problem(refused) == (403, "forbidden")

    async def test_our_own_page_is_served(self, http: httpx2.AsyncClient, server: str) -> None:
        assert (await http.get("/healthz", headers={"Origin": server})).status_code == 200

    async def test_a_body_beyond_the_limit_is_refused_announced_or_not(
        self, http: httpx2.AsyncClient
    ) -> None:
        async def unannounced() -> AsyncIterator[bytes]:
            for _ in range(11):
                yield b" " * 100_000

        assert problem(await http.post("/v1/meshes", content=b" " * 1_000_001)) == (
            413,
            "too_large",
        )
        assert problem(await http.post("/v1/meshes", content=unannounced())) == (413, "too_large")

    async def test_a_form_of_a_foreign_page_is_not_taken_for_json(
        self, http: httpx2.AsyncClient
    ) -> None:
        headers = {"Content-Type": "text/plain"}
        refused = await http.post("/v1/meshes", content=b'{"name": "x"}', headers=headers)

        assert problem(refused) == (422, "invalid")
        assert "application/json" in refused.json()["remedy"]


class TestServer:
    async def test_it_says_that_it_lives_and_that_it_can_work(
        self, http: httpx2.AsyncClient
    ) -> None:
        assert (await http.get("/healthz")).status_code == 200
        ready = await http.get("/readyz")
        assert ready.status_code == 200
        assert all(check["ok"] for check in ready.json()["items"])

    async def test_a_mesh_is_made_once(self, http: httpx2.AsyncClient, mesh_name: str) -> None:
        taken = await http.post("/v1/meshes", json={"name": mesh_name})

        assert problem(taken) == (409, "conflict")

    async def test_no_page_of_it_needs_an_address_outside(self, http: httpx2.AsyncClient) -> None:
        """It works in a closed network, and no stranger's script runs beside the memory."""
        for path in ("/docs", "/redoc"):
            assert problem(await http.get(path)) == (404, "not_found")
        described = (await http.get("/openapi.json")).text
        assert "http://" not in described
        assert "https://" not in described

    async def test_a_mesh_that_is_dropped_is_gone_and_can_be_made_anew(
        self, http: httpx2.AsyncClient, remote: RemoteMesh
    ) -> None:
        await remote.register("ada")
        await remote.store("It goes with its mesh.", agent="ada")
        name = remote.info.name
        path = f"/v1/meshes/{name.replace('/', '%2F')}"

        dropped = await http.delete(path)

        assert (dropped.status_code, dropped.json()) == (200, {"count": 1})
        assert problem(await http.delete(path)) == (404, "not_found")
        assert problem(await http.get(path)) == (404, "not_found")
        assert (await http.post("/v1/meshes", json={"name": name})).status_code == 201
        assert (await remote.stats()).cells == 0

    async def test_its_description_names_the_shape_of_every_problem(
        self, http: httpx2.AsyncClient
    ) -> None:
        described = (await http.get("/openapi.json")).json()

        store = described["paths"]["/v1/meshes/{mesh}/cells"]["post"]
        assert store["operationId"] == "store"
        assert set(store["responses"]) >= {"201", "404", "409", "422", "429", "503"}
        assert "application/problem+json" in store["responses"]["429"]["content"]
        assert "HTTPValidationError" not in described["components"]["schemas"]
