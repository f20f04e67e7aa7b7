"""A small model hub on loopback for the tests: the few routes that huggingface-hub's own client asks, with faults.

It lists, serves ranges, guards and breaks off; it keeps what was asked of it. Knows nothing of Borrador.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
from safetensors.numpy import save

CONFIG = {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}


def weights(megabytes: float = 0.1, *names: str) -> bytes:
    """A whole safetensors file of noise."""
    names = names or ("model.embed_tokens.weight",)
    values = np.random.default_rng(7).integers(0, 255, int(megabytes * 1e6 / len(names)), dtype=np.uint8)
    return save(dict.fromkeys(names, values))


def model_files(megabytes: float = 0.1, **config: Any) -> dict[str, bytes]:
    """The files of a small model, as a repository or a folder would hold them."""
    return {
        "config.json": json.dumps({**CONFIG, **config}).encode(),
        "generation_config.json": b'{"eos_token_id": 2}',
        "tokenizer.json": b'{"version": "1.0"}',
        "tokenizer_config.json": b'{"eos_token": "</s>"}',
        "chat_template.jinja": b"{{ messages }}",
        "model.safetensors": weights(megabytes),
    }


@dataclass
class Repository:
    files: dict[str, bytes]
    gated: bool = False
    private: bool = False
    commit: str = "a" * 40
    revisions: set[str] = field(default_factory=lambda: {"main"})


@dataclass
class Fault:
    """What goes wrong with a route that contains ``where``, ``times`` over; files only when a body is sent."""

    where: str
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    cut_after: int | None = None
    bytes_per_second: float | None = None
    wrong_bytes: bool = False
    ignore_range: bool = False
    times: int = 10**6


@dataclass
class Asked:
    method: str
    path: str
    range: str | None
    sent: int = 0


class FakeHub:
    """Use as a context manager; ``url`` goes into HF_ENDPOINT."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.faults: list[Fault] = []
        self.tokens: dict[str, bool] = {}  # known token: has accepted licences
        self.asked: list[Asked] = []
        hub = self

        class Handler(_Handler):
            fake = hub

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self) -> FakeHub:
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def bodies(self, name: str) -> list[Asked]:
        """Requests for a file's content."""
        return [asked for asked in self.asked if asked.method == "GET" and asked.path.endswith("/" + name)]

    def fault(self, path: str) -> Fault | None:
        for fault in self.faults:
            if fault.where in path and fault.times > 0:
                fault.times -= 1
                return fault
        return None


def _hash(content: bytes, large: bool) -> str:
    if large:
        return hashlib.sha256(content).hexdigest()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _is_large(name: str) -> bool:
    return name.endswith((".safetensors", ".bin", ".gguf", "tokenizer.json"))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    fake: FakeHub

    def do_GET(self) -> None:
        self.answer()

    def do_HEAD(self) -> None:
        self.answer()

    def answer(self) -> None:
        path = unquote(urlsplit(self.path).path)
        asked = Asked(self.command, path, self.headers.get("Range"))
        self.fake.asked.append(asked)
        parts = path.strip("/").split("/")
        is_file = parts[0] != "api"
        # A fault of a file's body must not be used up by the request for its headers.
        body_only = is_file and self.command == "HEAD"
        fault = None if body_only else self.fake.fault(path)
        if fault and fault.status:
            self.reply(fault.status, fault.headers)
            return
        owner, name = parts[2:4] if not is_file else parts[0:2]
        repository = self.fake.repositories.get(f"{owner}/{name}")
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if token and token not in self.fake.tokens:
            self.reply(401, {"X-Error-Message": "Invalid credentials in Authorization header"})
        elif repository is None or (repository.private and not token):
            self.reply(404 if token else 401, {"X-Error-Code": "RepoNotFound"})
        elif is_file and repository.gated and not self.fake.tokens.get(token):
            self.reply(403 if token else 401, {"X-Error-Code": "GatedRepo"})
        else:
            self.serve(repository, parts, is_file, asked, fault)

    def serve(self, held: Repository, parts: list[str], is_file: bool, asked: Asked, fault: Fault | None) -> None:
        revision = parts[3] if is_file else (parts[5] if len(parts) > 5 else "main")
        if revision not in held.revisions | {held.commit}:
            self.reply(404, {"X-Error-Code": "RevisionNotFound"})
        elif is_file:
            self.file(held, "/".join(parts[4:]), asked, fault)
        elif "tree" in parts:
            self.json([self.entry(name, content, "path", "oid", "oid") for name, content in held.files.items()])
        else:
            siblings = [self.entry(name, data, "rfilename", "blobId", "sha256") for name, data in held.files.items()]
            self.json({"id": "/".join(parts[2:4]), "sha": held.commit, "gated": held.gated, "siblings": siblings,
                       "private": held.private, "tags": [], "downloads": 0, "likes": 0})

    def entry(self, name: str, content: bytes, name_key: str, id_key: str, lfs_key: str) -> dict[str, Any]:
        entry: dict[str, Any] = {"type": "file", name_key: name, "size": len(content), id_key: _hash(content, False)}
        if _is_large(name):
            entry["lfs"] = {lfs_key: _hash(content, True), "size": len(content), "pointerSize": 130}
        return entry

    def file(self, held: Repository, name: str, asked: Asked, fault: Fault | None) -> None:
        content = held.files.get(name)
        if content is None:
            self.reply(404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": held.commit})
            return
        etag = _hash(content, _is_large(name))
        headers = {"X-Repo-Commit": held.commit, "ETag": f'"{etag}"', "X-Linked-Size": str(len(content))}
        start, status = 0, 200
        if asked.range and not (fault and fault.ignore_range):
            start, status = int(asked.range.removeprefix("bytes=").split("-")[0]), 206
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        body = content[start:]
        self.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if fault and fault.wrong_bytes:
            body = bytes(len(body))
        limit = len(body) if fault is None or fault.cut_after is None else fault.cut_after
        step = 1 << 16
        try:
            for at in range(0, min(limit, len(body)), step):
                piece = body[at:min(at + step, limit)]
                self.wfile.write(piece)
                asked.sent += len(piece)
                if fault and fault.bytes_per_second:
                    time.sleep(len(piece) / fault.bytes_per_second)
        except OSError:  # the other side went away, which some tests are about
            self.close_connection = True
        if limit < len(body):
            self.close_connection = True

    def json(self, content: Any) -> None:
        self.reply(200, {"Content-Type": "application/json"}, json.dumps(content).encode())

    def reply(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
        self.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...
