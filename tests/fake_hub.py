"""A small model hub on loopback for the tests: the few routes that huggingface-hub's own client asks, with faults.

It searches, lists, serves ranges, redirects, guards, trickles, stalls and breaks off; it keeps what was asked of it.
Knows nothing of Borrador.
"""

from __future__ import annotations

import functools
import hashlib
import json
import socket
import struct
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np
from safetensors.numpy import save

CONFIG = {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}


def weights(megabytes: float = 0.1, *names: str) -> bytes:
    """A whole safetensors file of noise."""
    names = names or ("model.embed_tokens.weight",)
    values = np.random.default_rng(7).integers(0, 255, int(megabytes * 1e6 / len(names)) // 2 * 2, dtype=np.uint8)
    return save(dict.fromkeys(names, values.view(np.float16)))


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
    tags: tuple[str, ...] = ("transformers", "safetensors", "text-generation", "license:apache-2.0")
    downloads: int = 0
    parameters: int | None = None
    tells_sizes: bool = True


@dataclass
class Fault:
    """What goes wrong with a route that contains ``where``, ``times`` over; files only when a body is sent.

    ``cut_after`` bytes the line is closed, ``reset_after`` torn, ``stall_after`` silent; ``redirect`` sends the client
    to another host name for the content, as hubs do for large files.
    """

    where: str
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    cut_after: int | None = None
    reset_after: int | None = None
    stall_after: int | None = None
    redirect: bool = False
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
    token: str = ""
    host: str = ""


class FakeHub:
    """Use as a context manager; ``url`` goes into HF_ENDPOINT."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.faults: list[Fault] = []
        self.tokens: dict[str, bool] = {}  # known token: has accepted licences
        self.asked: list[Asked] = []
        self.step = 1 << 16
        self.closing = threading.Event()
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
        self.closing.set()
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


@functools.lru_cache(maxsize=500)
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
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        asked = Asked(self.command, path, self.headers.get("Range"), 0, token, self.headers.get("Host", ""))
        self.fake.asked.append(asked)
        parts = path.strip("/").split("/")
        is_file = parts[0] != "api"
        # A fault of a file's body must not be used up by the request for its headers.
        body_only = is_file and self.command == "HEAD"
        fault = None if body_only else self.fake.fault(path)
        if fault and fault.status:
            self.reply(fault.status, fault.headers)
            return
        if parts[0] == "content":  # where redirects lead: no name and no token is asked for here
            owner, name, _, *file = parts[1:]
            self.file(self.fake.repositories[f"{owner}/{name}"], "/".join(file), asked, fault)
            return
        if parts == ["api", "models"] and (not token or token in self.fake.tokens):
            self.search(token)
            return
        owner, name = (*parts[2:4], "", "")[:2] if not is_file else parts[0:2]
        repository = self.fake.repositories.get(f"{owner}/{name}")
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
        elif is_file and fault and fault.redirect:
            port = self.server.server_address[1]
            place = "/".join(("content", *parts[0:2], held.commit, *parts[4:]))
            self.reply(302, {"Location": f"http://localhost:{port}/{place}", "X-Repo-Commit": held.commit})
        elif is_file:
            self.file(held, "/".join(parts[4:]), asked, fault)
        elif "tree" in parts:
            self.json([self.entry(name, content, "path", "oid", "oid") for name, content in held.files.items()])
        else:
            siblings = [self.entry(name, data, "rfilename", "blobId", "sha256") for name, data in held.files.items()]
            if not held.tells_sizes:
                siblings = [{name: value for name, value in one.items() if name != "size"} for one in siblings]
            self.json(self.about("/".join(parts[2:4]), held) | {"siblings": siblings})

    def about(self, name: str, held: Repository) -> dict[str, Any]:
        about: dict[str, Any] = {
            "_id": "0",
            "id": name,
            "sha": held.commit,
            "gated": "manual" if held.gated else False,
            "private": held.private,
            "tags": list(held.tags),
            "downloads": held.downloads,
            "likes": 0,
        }
        if held.parameters:
            about["safetensors"] = {"parameters": {"BF16": held.parameters}, "total": held.parameters}
        return about

    def search(self, token: str) -> None:
        """``/api/models``: those whose name holds every word, most downloads first."""
        asked = parse_qs(urlsplit(self.path).query)
        words = asked.get("search", [""])[0].lower().split()
        tags = set(asked.get("filter", [])) | set(asked.get("pipeline_tag", []))
        found = [
            self.about(name, held)
            for name, held in self.fake.repositories.items()
            if all(word in name.lower() for word in words) and tags <= set(held.tags) and (not held.private or token)
        ]
        found.sort(key=lambda one: -one["downloads"])
        self.json(found[: int(asked.get("limit", ["30"])[0])])

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
        if start > len(content):
            self.reply(416, {"Content-Range": f"bytes */{len(content)}"})
            return
        body = content[start:]
        self.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if fault and fault.wrong_bytes:
            body = bytes(len(body))
        ends = (fault.cut_after, fault.reset_after, fault.stall_after) if fault else ()
        limit = min((end for end in ends if end is not None), default=len(body))
        step = self.fake.step
        try:
            for at in range(0, min(limit, len(body)), step):
                piece = body[at : min(at + step, limit)]
                self.wfile.write(piece)
                asked.sent += len(piece)
                if fault and fault.bytes_per_second:
                    self.fake.closing.wait(len(piece) / fault.bytes_per_second)
        except OSError:  # the other side went away, which some tests are about
            self.close_connection = True
        if limit < len(body):
            self.close_connection = True
            if fault and fault.reset_after is not None:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
            elif fault and fault.stall_after is not None:
                self.fall_silent()

    def fall_silent(self) -> None:
        """Until the other side gives up, or the hub is closed."""
        self.connection.settimeout(0.05)
        while not self.fake.closing.is_set():
            try:
                if not self.connection.recv(1):
                    return
            except TimeoutError:
                continue
            except OSError:
                return

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
