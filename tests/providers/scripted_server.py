"""An embeddings endpoint that answers what a test tells it to, over real HTTP on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Answer:
    """One scripted answer. `claimed` is the Content-Length sent, if not the true one."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    claimed: int | None = None


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, object]

    @property
    def texts(self) -> list[str]:
        texts = self.body["input"]
        assert isinstance(texts, list)
        return texts


class Script:
    """The answers still to give; when they run out, every text gets a vector of its length."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.answers: list[Answer] = []
        self.seen: list[Seen] = []
        self.url = ""
        self.stopped = threading.Event()

    def next(self, request: Seen) -> Answer:
        self.seen.append(request)
        if not self.answers and request.path.endswith("/chat/completions"):
            return Answer(500, b"the script has run out")
        return self.answers.pop(0) if self.answers else embeddings(request.texts, self.dimension)


def vector(text: str, dimension: int) -> list[float]:
    """A vector that tells which text it belongs to."""
    return [float(len(text) + 1), *[1.0] * (dimension - 1)]


def embeddings(texts: list[str], dimension: int, *, reverse: bool = False) -> Answer:
    """The answer OpenAI would give, or the same with its items in the opposite order."""
    items = [
        {"object": "embedding", "index": index, "embedding": vector(text, dimension)}
        for index, text in enumerate(texts)
    ]
    body = {"object": "list", "data": items[::-1] if reverse else items}
    return Answer(body=json.dumps(body).encode())


class Server(ThreadingHTTPServer):
    """Room for a burst: with the usual five, further connections wait a second for a resend."""

    request_queue_size = 64
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing: a client that hangs up is what some tests are about."""


def completion(
    content: object = None, *, tool: bool = False, tokens: tuple[int, int] | None = (100, 20)
) -> Answer:
    """The answer of a chat model: text, or the arguments of a call of the tool "answer"."""
    said = content if isinstance(content, str) else json.dumps(content)
    message: dict[str, object] = {"role": "assistant", "content": None if tool else said}
    if tool:
        function = {"name": "answer", "arguments": said}
        message["tool_calls"] = [{"id": "call-1", "type": "function", "function": function}]
    body: dict[str, object] = {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
    }
    if tokens is not None:
        asked, answered = tokens
        body["usage"] = {
            "prompt_tokens": asked,
            "completion_tokens": answered,
            "total_tokens": asked + answered,
        }
    return Answer(body=json.dumps(body).encode())


@contextmanager
def serving(dimension: int = 8) -> Iterator[Script]:
    """A running server; its `url` is the base URL."""
    script = Script(dimension)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = script.next(Seen(self.path, headers, json.loads(body)))
            script.stopped.wait(answer.delay_s)
            try:
                self.send_response_only(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                claimed = len(answer.body) if answer.claimed is None else answer.claimed
                self.send_header("content-length", str(claimed))
                self.end_headers()
                self.wfile.write(answer.body)
            except OSError:
                self.close_connection = True  # the client had enough
            if answer.claimed is not None:
                self.close_connection = True

        def log_message(self, *args: object) -> None:
            """Nothing: the test looks at `seen`."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield script
    finally:
        script.stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
