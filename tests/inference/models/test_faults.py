"""The real hub client on a bad line: cut, torn, silent, trickling, redirected, refused; each told apart."""

from __future__ import annotations

import datetime
import ssl
import time
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock
from huggingface_hub import constants

from inference.messages import Notice, Problem
from inference.models import download, folders, hub_wire, transfer
from tests.fake_hub import FakeHub, Fault, Repository, model_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.inference.models.conftest import Fetch

WEIGHTS = "model.safetensors"


def blobs() -> Path:
    return folders.hub_cache() / "models--owner--tiny" / "blobs"


def offer(hub: FakeHub, megabytes: float = 0.5, **about: object) -> dict[str, bytes]:
    files = model_files(megabytes)
    hub.repositories["owner/tiny"] = Repository(files, **about)  # type: ignore[arg-type]
    return files


def is_whole(fetch: Fetch, files: dict[str, bytes]) -> bool:
    return {path.name: path.read_bytes() for path in fetch().folder.iterdir()} == files


def test_F01_a_hub_that_goes_away_leaves_a_part_that_is_resumed(
    hub: FakeHub, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "PAUSES", (1, 2, 4))
    files = offer(hub, 6)
    hub.faults += [Fault(WEIGHTS, cut_after=4_000_000, times=1), Fault(WEIGHTS, cut_after=0)]
    assert fetch.problem().notice.id == "error.network"
    assert [notice.values["seconds"] for notice in fetch.said("download.retrying")] == [1, 2, 1, 4, 3, 2, 1]
    assert len(hub.bodies(WEIGHTS)) == 1 + 5 + 6 * len(transfer.PAUSES)
    part = next(blobs().glob("*.incomplete"))
    assert 4_000_000 - transfer.CHUNK <= part.stat().st_size <= 4_000_000
    hub.faults.clear()
    hub.asked.clear()
    assert is_whole(fetch, files)
    assert [asked.path.rsplit("/", 1)[1] for asked in hub.asked if asked.sent] == [WEIGHTS]
    assert hub.bodies(WEIGHTS)[0].sent <= 2_000_000 + transfer.CHUNK + 200


def test_F01_twenty_cuts_cost_little_more_than_the_size(hub: FakeHub, fetch: Fetch) -> None:
    files = offer(hub, 20)
    hub.faults += [Fault(WEIGHTS, cut_after=500_000 + 40_000 * n, times=1) for n in range(20)]
    assert is_whole(fetch, files)
    assert sum(asked.sent for asked in hub.bodies(WEIGHTS)) < 1.15 * 20e6  # 10 % of so small a file is 20 half steps


@pytest.mark.parametrize("fault", [Fault(WEIGHTS, reset_after=300_000, times=1),
                                   Fault(WEIGHTS, stall_after=300_000, times=1)])  # fmt: skip
def test_a_torn_and_a_silent_line_are_taken_up(
    hub: FakeHub, fetch: Fetch, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_DOWNLOAD_TIMEOUT", 0.5)
    files = offer(hub)
    hub.faults.append(fault)
    assert is_whole(fetch, files)
    assert len(hub.bodies(WEIGHTS)) == 2


def test_a_line_that_trickles_is_given_up_and_made_anew(
    hub: FakeHub, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_wire, "PATIENCE", 0.3)
    files = offer(hub)
    hub.step = 50
    hub.faults.append(Fault(WEIGHTS, bytes_per_second=500, times=1))
    assert is_whole(fetch, files)
    assert fetch.said("download.stalled") == [Notice("download.stalled")]
    assert len(hub.bodies(WEIGHTS)) == 2


def test_a_redirect_to_another_host_carries_no_token(
    hub: FakeHub, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    hub.tokens["hf_secret"] = True
    files = offer(hub)
    hub.faults += [Fault(f"resolve/{'a' * 40}/{WEIGHTS}", redirect=True), Fault("content/", cut_after=300_000, times=1)]
    assert is_whole(fetch, files)
    there = [asked for asked in hub.asked if asked.path.startswith("/content/")]
    assert len(there) == 2 and there[1].range is not None
    assert all(asked.host.startswith("localhost") and not asked.token for asked in there)
    assert all(asked.token == "hf_secret" for asked in hub.asked if asked.path.startswith("/api/"))


def test_a_hub_in_trouble_is_asked_again_then_told(hub: FakeHub, fetch: Fetch) -> None:
    files = offer(hub)
    hub.faults += [Fault("/api/models/", status=502, times=1), Fault(WEIGHTS, status=503, times=2)]
    assert is_whole(fetch, files)
    assert len(fetch.said("download.retrying")) == 1 + 1 + 2
    hub.faults.append(Fault("/api/models/", status=503))
    refused = fetch.problem()
    assert refused.notice.id == "error.hub" and "503" in str(refused)


def test_F07_429_without_a_word_how_long(hub: FakeHub, fetch: Fetch) -> None:
    files = offer(hub)
    hub.faults.append(Fault(WEIGHTS, status=429, times=7))
    assert is_whole(fetch, files)
    assert [notice.values["seconds"] for notice in fetch.said("download.asked_to_wait")] == list(range(30, 0, -1))
    assert [len(hub.bodies(name)) for name in files if name != WEIGHTS] == [1] * (len(files) - 1)


def test_F07_429_in_a_file_for_too_long_is_a_problem(hub: FakeHub, fetch: Fetch) -> None:
    offer(hub)
    hub.faults.append(Fault(WEIGHTS, status=429, headers={"Retry-After": "3600"}))
    assert fetch.problem().notice.id == "error.rate_limit"
    assert fetch.pauses == []


PAST = "Wed, 21 Oct 2015 07:28:00 GMT"


@pytest.mark.parametrize("headers", [{"Retry-After": "2"}, {"RateLimit": '"api";r=0;t=2'}, {"Retry-After": PAST}])
def test_F07_how_long_is_read_however_it_is_said(hub: FakeHub, fetch: Fetch, headers: dict[str, str]) -> None:
    offer(hub)
    hub.faults.append(Fault("/api/models/", status=429, headers=headers, times=1))
    fetch()
    told = [notice.values["seconds"] for notice in fetch.said("download.asked_to_wait")]
    assert told in ([2, 1], [1])


def test_F01_a_file_that_changes_meanwhile(hub: FakeHub, fetch: Fetch) -> None:
    files = offer(hub)
    other = model_files(0.7)[WEIGHTS]
    listed = download._Download._listing

    def listing_then_change(self: download._Download) -> dict[str, transfer.File]:
        found = listed(self)
        hub.repositories["owner/tiny"].files[WEIGHTS] = other
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(download._Download, "_listing", listing_then_change)
        assert fetch.problem().notice.id == "error.changed"
    assert not list(blobs().glob("*.incomplete"))
    assert is_whole(fetch, {**files, WEIGHTS: other})


def test_a_commit_that_is_gone_is_a_change(hub: FakeHub, fetch: Fetch) -> None:
    offer(hub)
    hub.faults.append(Fault(WEIGHTS, status=404, headers={"X-Error-Code": "RevisionNotFound"}))
    assert fetch.problem().notice.id == "error.changed"


def test_F01_a_part_longer_than_the_servers_file(hub: FakeHub, fetch: Fetch) -> None:
    files = offer(hub)
    hub.faults.append(Fault(WEIGHTS, status=416, times=1))
    assert is_whole(fetch, files)


def test_F03_a_size_that_is_not_told_is_asked_for(hub: FakeHub, fetch: Fetch) -> None:
    files = offer(hub, tells_sizes=False)
    assert is_whole(fetch, files)
    totals = {notice.values["total_mb"] for notice in fetch.said("download.progress")}
    assert totals == {sum(map(len, files.values())) / 1e6}


def test_F03_a_disk_that_fills_up_meanwhile_keeps_the_part(hub: FakeHub, fetch: Fetch) -> None:
    files = offer(hub)
    fetch()
    weights = next(blobs().iterdir()).parent / transfer.digest(next(fetch().folder.glob(WEIGHTS)), "0" * 64)
    weights.unlink()
    part = weights.with_name(weights.name + ".incomplete")
    part.symlink_to("/dev/full")
    refused = fetch.problem()
    assert refused.notice.id == "error.disk_full" and str(folders.hub_cache()) in str(refused)
    assert part.is_symlink()
    part.unlink()
    assert is_whole(fetch, files)


def test_a_cache_that_may_not_be_written(hub: FakeHub, fetch: Fetch, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(hub)
    monkeypatch.setattr(folders.os, "access", lambda *_: False)
    assert fetch.problem().notice.id == "error.permission"


def test_F09_a_live_lock_is_respected_and_a_left_one_is_not(hub: FakeHub, fetch: Fetch) -> None:
    files = offer(hub)
    locks = folders.hub_cache() / ".locks" / "models--owner--tiny"
    locks.mkdir(parents=True)
    for etag in (transfer.digest(_file(name, files), "0" * 64) for name in (WEIGHTS, "tokenizer.json")):
        (locks / f"{etag}.lock").touch()  # a killed process leaves the file, and the system frees the lock
    held = FileLock(locks / f"{transfer.digest(_file(WEIGHTS, files), '0' * 64)}.lock")
    held.acquire()

    def release(*said: object) -> None:
        if said[0] == Notice("download.elsewhere", {"model": "owner/tiny"}):
            held.release()

    found = download.fetch("owner/tiny", None, release)
    assert not held.is_locked
    assert {path.name: path.read_bytes() for path in found.folder.iterdir()} == files


def _file(name: str, files: dict[str, bytes]) -> Path:
    path = folders.hub_cache() / name
    path.write_bytes(files[name])
    return path


def test_F09_a_file_system_without_locks(hub: FakeHub, fetch: Fetch, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise NotImplementedError("FileSystem does not appear to support flock; use SoftFileLock instead")

    files = offer(hub)
    monkeypatch.setattr(FileLock, "acquire", refuse)
    assert is_whole(fetch, files)
    assert not list(folders.hub_cache().rglob("*.softlock"))


def test_F14_of_many_quantizations_the_chosen_one_only(hub: FakeHub, fetch: Fetch) -> None:
    kinds = [f"tiny.Q{bits}_{kind}.gguf" for bits in range(2, 9) for kind in ("0", "K_M", "K_S")]
    hub.repositories["owner/tiny"] = Repository({name: b"GGUF" + name.encode() * 9 for name in kinds})
    refused = fetch.problem()
    assert refused.notice.id == "error.choose_file" and kinds[0] in str(refused)
    assert fetch.problem(file="tiny.Q9.gguf").notice.id == "error.choose_file"
    found = fetch(file=kinds[4])
    assert found.file is not None and found.file.read_bytes() == b"GGUF" + kinds[4].encode() * 9
    assert {asked.path.rsplit("/", 1)[1] for asked in hub.asked if asked.sent} == {kinds[4]}


def test_F11_a_download_that_is_given_up_can_leave_nothing(hub: FakeHub, fetch: Fetch) -> None:
    offer(hub, 2)
    hub.faults += [Fault(WEIGHTS, cut_after=1_000_000, times=1), Fault(WEIGHTS, status=403)]
    fetch.problem()
    place = folders.hub_cache() / "models--owner--tiny"
    assert download.discard("owner/tiny") >= 3 * transfer.CHUNK
    assert not place.exists()
    assert download.discard("owner/tiny") == 0


def test_F11_giving_up_a_newer_one_leaves_the_one_that_is_here(hub: FakeHub, fetch: Fetch) -> None:
    files = offer(hub, 1)
    folder = fetch().folder
    (blobs() / "0123.incomplete").write_bytes(b"part")
    assert download.discard("owner/tiny") == 4
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files


def test_a_proxy_that_cannot_be_reached(hub: FakeHub, fetch: Fetch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://me:password@127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    offer(hub)
    refused = fetch.problem()
    assert refused.notice.id == "error.proxy"
    assert "127.0.0.1:9" in str(refused) and "password" not in str(refused)


def test_a_proxy_that_wants_a_password(hub: FakeHub, fetch: Fetch) -> None:
    offer(hub)
    hub.faults.append(Fault("/api/models/", status=407))
    assert fetch.problem().notice.id == "error.proxy"


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate that nobody vouches for, with its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    path = tmp_path / "certificate.pem"
    encoding = serialization.Encoding.PEM
    kept = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(kept + made.public_bytes(encoding))
    return path


@pytest.fixture
def secure(hub: FakeHub, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    hub.server.socket = context.wrap_socket(hub.server.socket, server_side=True)
    monkeypatch.setattr(hub.server, "handle_error", lambda *_: None)  # it is told that the client refuses
    address = hub.url.replace("http:", "https:")
    monkeypatch.setattr(constants, "ENDPOINT", address)
    yield address


def test_a_certificate_that_cannot_be_trusted(hub: FakeHub, fetch: Fetch, secure: str) -> None:
    offer(hub)
    refused = fetch.problem()
    assert refused.notice.id == "error.certificate" and "self-signed" in str(refused)


def test_F16_a_token_is_in_no_error(hub: FakeHub, fetch: Fetch, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(hub)
    monkeypatch.setenv("HF_TOKEN", "hf_se\tcret")  # the transport quotes a header it cannot send
    refused = fetch.problem()
    assert isinstance(refused, Problem)
    assert "cret" not in str(refused)


def test_the_speed_is_that_of_the_last_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Notice] = []
    clock = iter([0.0, *(float(second) for second in range(1, 21))])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    meter = transfer.Meter("m", 10**9, lambda notice, _: said.append(notice))
    meter.begin(0)
    for second in range(20):
        meter.add(1_000_000 if second < 10 else 5_000_000)
    assert said[8].values["speed_mb"] == pytest.approx(1)
    assert said[-1].values["speed_mb"] == pytest.approx(5)
