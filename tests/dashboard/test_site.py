"""The files of the dashboard: how they are sent, how large they are, and what may run in them."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from drumbeat.dashboard.files import built_files
from drumbeat.dashboard.site import Site
from tests.api.caller import Answer, Caller, asked, house

SOURCE = Path(__file__).parents[2] / "web"


def caller() -> Caller:
    return Caller(Site(house().api))


async def mounted(path: str) -> Answer:
    connection = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "/beat",
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
        "client": ("127.0.0.1", 1),
        "scheme": "http",
    }
    return await asked(Site(house(insecure=True).api), connection, b"")


def page() -> str:
    return built_files()["/"].body.decode()


async def test_the_page_is_there_for_everybody_and_forbids_everything_inline() -> None:
    answer = await Caller(Site(house(api_token="a-secret-of-tests-0123456789").api))("GET", "/")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = dict(
        part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; ")
    )
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "connect-src": "'self'",
        "img-src": "'self' data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }


def test_the_page_names_only_its_own_files_by_relative_addresses() -> None:
    addresses = re.findall(r'(?:src|href)="([^"]*)"', page())
    assert addresses
    assert all(address.startswith("./assets/") for address in addresses)
    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\son\w+=", page())


async def test_the_page_is_asked_for_again_and_its_assets_are_kept_for_ever() -> None:
    ask = caller()
    assert (await ask("GET", "/")).headers["cache-control"] == "no-cache"
    assets = [path for path in built_files() if path != "/"]
    assert assets
    for path in assets:
        answer = await ask("GET", path)
        assert answer.status == 200
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


async def test_an_unchanged_file_is_not_sent_again() -> None:
    ask = caller()
    tag = (await ask("GET", "/")).headers["etag"]
    again = await ask("GET", "/", **{"if-none-match": f'"other", W/{tag}'})
    assert (again.status, again.body) == (304, b"")
    assert (await ask("GET", "/", **{"if-none-match": '"other"'})).status == 200


async def test_a_file_is_compressed_for_those_who_take_it() -> None:
    ask = caller()
    plain = await ask("GET", "/")
    packed = await ask("GET", "/", **{"accept-encoding": "br, gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert "content-encoding" not in plain.headers
    assert plain.headers["vary"] == packed.headers["vary"] == "accept-encoding"


async def test_head_tells_the_length_and_sends_no_body() -> None:
    ask = caller()
    head, whole = await ask("HEAD", "/"), await ask("GET", "/")
    assert head.body == b""
    assert head.headers["content-length"] == str(len(whole.body))


async def test_every_other_path_and_method_is_the_api() -> None:
    ask = caller()
    assert (await ask("GET", "/jobs")).data == []
    assert (await ask("POST", "/")).kind == "no-such-path"
    for path in ("/assets/", "/assets/../index.html", "/index.html", "/static/index.html"):
        assert (await ask("GET", path)).kind == "no-such-path"


async def test_a_mounted_page_is_below_its_place() -> None:
    assert (await mounted("/beat/")).body.startswith(b"<!doctype html>")
    assert (await mounted("/beat/jobs")).data == []
    away = await mounted("/beat")
    assert (away.status, away.headers["location"]) == (308, "/beat/")


def test_the_lock_of_the_packages_records_no_addresses() -> None:
    assert '"resolved"' not in (SOURCE / "package-lock.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("forbidden", ["{@html", "innerHTML", "outerHTML", "insertAdjacentHTML"])
def test_no_source_writes_markup_of_data(forbidden: str) -> None:
    sources = [*SOURCE.glob("src/**/*.svelte"), *SOURCE.glob("src/**/*.ts")]
    assert sources
    found = [each.name for each in sources if forbidden in each.read_text(encoding="utf-8")]
    assert found == []
