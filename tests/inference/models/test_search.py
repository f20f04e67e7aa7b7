"""Looking for models on the hub, in the terminal too, and fetching one from there."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from huggingface_hub import constants

from inference.__main__ import main
from inference.messages import Problem
from inference.models import search
from tests.fake_hub import FakeHub, Fault, Repository, model_files

if TYPE_CHECKING:
    from pathlib import Path

    from tests.inference.models.conftest import Fetch

TEXT = ("safetensors", "text-generation")


@pytest.fixture
def shelf(hub: FakeHub) -> FakeHub:
    def put(name: str, *tags: str, **about: Any) -> None:
        hub.repositories[name] = Repository(model_files(), tags=tags, **about)

    put("owner/sea-1b", *TEXT, "license:mit", parameters=10**9, downloads=5)
    put("owner/sea-9b", *TEXT, "license:llama3.1", parameters=9 * 10**9, downloads=50, gated=True)
    put("owner/sea-old", "pytorch", "text-generation", downloads=500)
    put("owner/sea-GGUF", "gguf", "text-generation", "license:apache-2.0", downloads=2)
    put("owner/sea-picture", "safetensors", "text-to-image")
    put("owner/mountain", *TEXT)
    put("Qwen/Qwen3-0.6B", *TEXT, "license:apache-2.0", parameters=751_632_384)
    return hub


def names(words: str, **options: Any) -> list[str]:
    return [one.repository for one in search.search(words, lambda *_: None, **options)]


def test_by_name_and_by_filter(shelf: FakeHub, fetch: Fetch) -> None:
    assert names("sea") == ["owner/sea-9b", "owner/sea-1b", "owner/sea-GGUF"]
    assert names("sea", licence="free") == ["owner/sea-1b", "owner/sea-GGUF"]
    assert names("sea", licence="mit") == ["owner/sea-1b"]
    assert names("sea", largest=3 * 10**9) == ["owner/sea-1b", "owner/sea-GGUF"]
    assert names("nothing like it") == []


def test_what_is_found_is_described(shelf: FakeHub, fetch: Fetch) -> None:
    big, small, packed = search.search("sea", lambda *_: None)
    assert (big.gated, big.parameters, big.size, big.licence) == (True, 9 * 10**9, 18 * 10**9, "llama3.1")
    assert (small.gated, small.form, small.tested, small.name) == (False, "safetensors", False, "sea-1b")
    assert (packed.form, packed.size) == ("gguf", None)
    (known,) = search.search("qwen3", lambda *_: None)
    assert known.tested and known.parameters == 596_049_920 and "@c1899de" in known.model


def test_a_busy_hub_and_none_at_all(shelf: FakeHub, fetch: Fetch, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch("owner/mountain")  # a download's watch over the client ends with it
    shelf.faults.append(Fault("/api/models", status=429, headers={"Retry-After": "1"}, times=1))
    assert names("mountain") == ["owner/mountain"]
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(Problem) as caught:
        names("mountain")
    assert caught.value.notice.id == "error.network"
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(Problem) as caught:
        names("mountain")
    assert caught.value.notice.id == "error.offline_search"


def test_in_the_terminal(shelf: FakeHub, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "search", "sea", "--licence", "free", "--json"]) == 0
    out, err = capsys.readouterr()
    assert [one["repository"] for one in json.loads(out)] == ["owner/sea-1b", "owner/sea-GGUF"]
    assert err == "Searching the hub for sea\n"
    assert main(["models", "search"]) == 0
    out, _ = capsys.readouterr()
    assert out.splitlines()[0] == "HuggingFaceTB/SmolLM2-135M-Instruct  0.13B, 269 MB, apache-2.0, tested"
    assert len(out.splitlines()) >= 16
    assert main(["models", "pull", "owner/sea-1b"]) == 0
    out, err = capsys.readouterr()
    assert (home / "hf" / "hub") in type(home)(out.strip()).parents
    assert "Downloading owner/sea-1b" in err
    assert main(["models", "pull", "owner/sea-8b", "--json"]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 2 and "sea-8b" in err
    assert main(["models", "pull", "no name"]) == 1


def test_F16_a_token_is_kept_where_only_the_user_can_read_it(
    shelf: FakeHub, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import io
    import sys

    from inference.models import hub_token, job

    def told(*arguments: str, typed: str = "") -> dict[str, Any]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        job.main(["token", *arguments])
        out, err = capsys.readouterr()
        assert "hf_" not in out + err or "begins with hf_" in out
        return json.loads(out.splitlines()[-1])

    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(home / "no-token"))
    assert told("place")["place"] == "none"
    assert told("keep", typed="not a token\n")["id"] == "error.token_form"
    assert told("keep", typed="hf_accepted\n")["place"] == "file"
    assert hub_token.file().stat().st_mode & 0o777 == 0o600
    shelf.tokens["hf_accepted"] = True
    shelf.repositories["owner/sea-9b"].gated = True
    assert main(["models", "pull", "owner/sea-9b"]) == 0
    assert {asked.token for asked in shelf.asked} == {"hf_accepted"}
    shelf.tokens.clear()
    assert main(["models", "search", "sea"]) == 1
    said = "".join(capsys.readouterr())
    assert "refuses your token" in said and "hf_accepted" not in said
    assert not any("hf_accepted" in value for value in os.environ.values())
    assert told("forget")["place"] == "none"
    assert not hub_token.file().exists()


def test_F16_a_keyring_goes_before_the_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import keyring
    from keyring.backend import KeyringBackend

    from inference.models import hub_token

    class Ring(KeyringBackend):
        priority = 5  # type: ignore[assignment]
        kept: dict[tuple[str, str], str]

        def get_password(self, service: str, username: str) -> str | None:
            return self.kept.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            self.kept[service, username] = password

        def delete_password(self, service: str, username: str) -> None:
            del self.kept[service, username]

    ring = Ring()
    ring.kept = {}
    before = keyring.get_keyring()
    keyring.set_keyring(ring)
    try:
        assert hub_token.write("hf_mine") == "keyring" and hub_token.place() == "keyring"
        assert not hub_token.file().exists() and hub_token.read() == "hf_mine"
        hub_token.remove()
        assert ring.kept == {} and hub_token.read() is None
    finally:
        keyring.set_keyring(before)
