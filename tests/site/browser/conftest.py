"""A real browser: Debian's Chromium, driven by Playwright. Without them these tests are skipped, by name."""

from __future__ import annotations

import functools
import http.server
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import url2pathname

import pytest

from storeproof.result.json_file import write_result
from storeproof.site import build_site
from storeproof.site.folder import write_site
from storeproof.site.site_content import SiteContent, gather
from storeproof.site.sources import read_sources
from tests.result.needs.needed import needs
from tests.shipped import SHIPPED
from tests.site.browser.small import small_result
from tests.site.browser.visitor import Visitor
from tests.site.made import decided

CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One for all tests of a process."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright: pip install -e '.[site]'")
    if CHROMIUM is None:
        pytest.skip("needs the program chromium: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM)
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Any]:
    """Opens a page in a context of its own; whatever it asks for beyond the site, and every error in it, fails the test."""
    contexts: list[Any] = []
    wrong: list[str] = []

    def opened(address: str, width: int = 1280, scheme: str = "light") -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        own = re.sub("(/(?:store|isolation|run|capability|decision|spec))?/[^/]*$", "", address.partition("#")[0])
        page.on("request", lambda request: request.url.startswith((own, "data:")) or wrong.append(f"asked for {request.url}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("console", lambda said: said.type == "error" and wrong.append(f"console: {said.text}"))
        page.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.goto(address)
        return page

    yield opened
    for each in contexts:
        each.close()
    assert wrong == []


def written(content: SiteContent, folder: Path) -> str:
    """The address of a site on disk."""
    write_site(build_site(content), folder)
    return folder.as_uri()


@pytest.fixture(scope="session")
def published_site(published: SiteContent, browser: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of the published results."""
    return written(published, tmp_path_factory.mktemp("published"))


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small result."""
    folder = tmp_path_factory.mktemp("small")
    write_result(small_result(), folder / "result.json")
    return folder


@pytest.fixture(scope="session")
def small_site(small: Path, browser: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of its site, with one decision."""
    found = read_sources([small])
    asked = needs(must=["expiry.put-expiring"], guarantee="power_loss", load={"mix": [{"operation": "get"}], "rate": 1000})
    return written(gather(found, SHIPPED, decided(found, asked)), tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="session")
def served(small_site: str) -> Iterator[str]:
    """The same site from a web server."""
    folder = url2pathname(small_site.removeprefix("file://"))

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            return

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def visit(open_page: Any, published_site: str) -> Visitor:
    """A new user on the first screen of the published site."""
    return Visitor(open_page(f"{published_site}/index.html"))
