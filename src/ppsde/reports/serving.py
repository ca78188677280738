"""A web server for the report of a running study: one page, read only, on this machine only, which reloads itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ..experiments import Store
from .page import page
from .study import gather

LOOPBACK = "127.0.0.1"
NAMES = ("127.0.0.1", "localhost")  # names of this machine that a request may use; others come from pages of strangers


class Pages:
    """The page of a store, rebuilt only when the store has changed."""

    def __init__(self, path: Path, plan: int | None) -> None:
        self._path = path
        self._plan = plan
        self._lock = threading.Lock()
        self._state: Any = None
        self._page = b""

    def latest(self) -> bytes:
        with self._lock, Store(self._path) as store:
            state = store.state()
            if state != self._state:
                self._page = page(gather(store, self._plan), live=True).encode()
                self._state = state
            return self._page


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, pages: Pages, port: int) -> None:
        self.pages = pages
        super().__init__((LOOPBACK, port), Handler)


class Handler(BaseHTTPRequestHandler):
    """Answers GET requests for the page, and no others."""

    server: Server
    server_version = "ppsde"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        port = self.server.server_address[1]
        allowed = {name for host in NAMES for name in (host, f"{host}:{port}")}
        if self.headers.get_all("Host", []) not in [[name] for name in allowed]:
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", b"this page is served to this machine alone\n")
        elif self.path.partition("?")[0] != "/":
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"there is one page, /\n")
        else:
            try:
                content = self.server.pages.latest()
            except ValueError as error:  # a store that is gone or damaged
                self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain", f"{error}\n".encode())
                return
            self._answer(HTTPStatus.OK, "text/html", content)

    def _answer(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("X-Frame-Options", "DENY")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *values: Any) -> None:
        """Print nothing: requests are not worth a line each."""


@contextmanager
def served(path: Path, plan: int | None = None, port: int = 0) -> Iterator[str]:
    """Serve the report of a store inside a `with` block, which gets its address. Port 0 is any free port."""
    pages = Pages(path, plan)
    pages.latest()  # a damaged store is reported now, not at the first request
    with Server(pages, port) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        thread.start()
        try:
            yield f"http://{LOOPBACK}:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()
