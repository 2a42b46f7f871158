"""README and pages of the docs as their readers see them, in the folder `site`: nobody else shows these pictures."""

import asyncio
import os
import shutil
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from markdown_it import MarkdownIt
from playwright.async_api import Browser, async_playwright

from tests.editors.conftest import CHROMIUM_FLAGS
from tests.editors.debian import CHROMIUM, fetched

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "site"
PAGES = ("index", "start", "review", "settings", "performance", "contributing")
WIDTHS = {"wide": 1280, "phone": 390}
AS_ON_GITHUB = """
<base href="{base}/">
<style>
body {{ max-width: 830px; margin: 2em auto; font: 16px/1.5 sans-serif; padding: 0 1em }}
img {{ max-width: 100% }} pre {{ background: #f6f8fa; padding: 1em; overflow: auto }}
table {{ border-collapse: collapse; display: block; overflow: auto }}
th, td {{ border: 1px solid #d0d7de; padding: .4em .8em }}
</style>
{body}
"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


async def take() -> None:
    PICTURES.mkdir(exist_ok=True)
    readme = MarkdownIt("commonmark").enable("table").render((ROOT / "README.md").read_text(encoding="utf-8"))
    (PICTURES / "readme.html").write_text(AS_ON_GITHUB.format(base=ROOT.as_uri(), body=readme), encoding="utf-8")
    await _build(PICTURES / "docs")
    async with async_playwright() as playwright:
        # By HTTP: read from a file, the pages have no search.
        serving = partial(_Quiet, directory=str(PICTURES / "docs"))
        server = ThreadingHTTPServer(("127.0.0.1", 0), serving)
        Thread(target=server.serve_forever, daemon=True).start()
        found = shutil.which("chromium") or fetched(CHROMIUM)
        browser = await playwright.chromium.launch(executable_path=found, args=CHROMIUM_FLAGS)
        for width in WIDTHS:
            await _picture(browser, (PICTURES / "readme.html").as_uri(), f"readme-{width}", width)
        for page in PAGES:
            for width, scheme in (("wide", "light"), ("wide", "dark"), ("phone", "light")):
                address = f"http://127.0.0.1:{server.server_port}/{'' if page == 'index' else f'{page}/'}"
                await _picture(browser, address, f"{page}-{width}-{scheme}", width, scheme)
        await browser.close()
        server.shutdown()


async def _build(folder: Path) -> None:
    settings = ROOT / "docs" / "site" / "mkdocs.yml"
    options = ("build", "--quiet", "--config-file", str(settings), "--site-dir", str(folder))
    building = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "mkdocs", *options, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    )
    if await building.wait():
        raise RuntimeError("the pages could not be built")


async def _picture(browser: Browser, address: str, name: str, width: str, scheme: str = "light") -> None:
    size = {"width": WIDTHS[width], "height": 900}
    page = await browser.new_page(viewport=size, color_scheme="dark" if scheme == "dark" else "light")
    await page.goto(address, wait_until="networkidle")
    wider = await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    if wider > 0:
        raise RuntimeError(f"{name} is {wider} pixels wider than the screen")
    await page.screenshot(path=PICTURES / f"{name}.png", full_page=name.startswith("readme"))
    await page.close()
