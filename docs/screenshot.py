"""Take the pictures: the chat on the sample handbook with a citation open, a cited page of a PDF, the
desk with somebody who was handed over, a page of those who run it, the playground, a report of the
lab and one case of it, in Chromium.

Needs an indexed sample (`make demo`), the test dependencies, and Debian's chromium. A test takes them
too, so that none shows what is no more. Run: make pictures
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from ombud.messages import message

ROOT = Path(__file__).parents[1]
CHROMIUM = Path("/usr/bin/chromium")
TROUBLE = "A colleague keeps making remarks about my body. I do not know what to do."
PRINTED = "How many weeks of maternity leave at full pay do I get?"
QUESTION = "How many days of annual leave do I get?"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--home", type=Path, default=ROOT / "sample", help="indexed sample")
    parser.add_argument("--out", type=Path, default=ROOT / "docs", help="folder of the pictures")
    parser.add_argument("--sample", type=float, default=1.0, help="share of cases in the report")
    parser.add_argument("--browser", type=Path, default=CHROMIUM, help="program of the browser")
    chosen = parser.parse_args()
    take_pictures(chosen.home, chosen.out, chosen.sample, chosen.browser)


def take_pictures(home: Path, folder: Path, sample: float, program: Path) -> None:
    """sample: share of the cases that the report and the page of a case are made of."""
    ombud = [sys.executable, "-m", "ombud", "--home", str(home)]
    with tempfile.TemporaryDirectory() as scratch, _started(program) as browser:
        report = Path(scratch) / "report.html"
        _measure(ombud, report, sample)
        _take_report(browser, report.as_uri(), folder / "report.png")
        with subprocess.Popen(
            [*ombud, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True
        ) as server:
            url = next(iter(server.stdout or [])).split()[-1]
            try:
                for name, take in PICTURES.items():
                    take(browser, url, folder / f"{name}.png")
            finally:
                server.terminate()


def _measure(ombud: list[str], report: Path, sample: float) -> None:
    """Two runs of the sample's test split, compared."""
    cases = str(ROOT / "sample/cases")
    for mode in ("sparse", "hybrid"):
        run = [*ombud, "lab", "run", cases, "--split", "test", "--sample", str(sample)]
        run += ["--name", mode, "--plan", f"mode={mode}"]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
    compare = [*ombud, "lab", "report", "sparse", "hybrid", "--html", str(report)]
    subprocess.run(compare, check=True)


@contextmanager
def _started(program: Path) -> Iterator[Browser]:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(program), args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def _opened(browser: Browser, height: int) -> Iterator[Page]:
    """In a fresh profile."""
    size: ViewportSize = {"width": 1280, "height": height}
    with browser.new_context(viewport=size, color_scheme="light") as profile:
        yield profile.new_page()


def _take_report(browser: Browser, url: str, target: Path) -> None:
    with _opened(browser, 1500) as page:
        page.goto(url)
        page.screenshot(path=str(target))


def _take(browser: Browser, url: str, target: Path) -> None:
    with _opened(browser, 880) as page:
        page.goto(url)
        page.get_by_label("Country").select_option("GB")
        page.get_by_role("textbox").fill(QUESTION)
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Source 1").first.click()
        page.wait_for_selector("mark")
        page.wait_for_timeout(600)  # let the panel finish sliding in
        page.screenshot(path=str(target))


def _take_document(browser: Browser, url: str, target: Path) -> None:
    """The page of a PDF as it was printed, reached from an answer."""
    with _opened(browser, 1100) as page:
        page.goto(url)
        page.get_by_label("Country").select_option("GB")
        page.get_by_role("textbox").fill(PRINTED)
        page.keyboard.press("Enter")
        page.locator(".origins button", has_text="Family leave and pay").first.click()
        link = page.locator("#panel .source.on a").first
        page.goto(url + str(link.get_attribute("href")))
        page.locator(".printed summary").click()
        page.locator(".printed img").evaluate("(image) => image.decode()")
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=str(target))


def _take_case(browser: Browser, url: str, target: Path) -> None:
    """One case of the newest run, down to the stages of its search."""
    with _opened(browser, 1500) as page:
        page.goto(f"{url}/lab")
        page.locator("td a").first.click()
        page.locator("tbody tr", has_text="full").filter(has_text="100 %").locator(
            "a"
        ).first.click()
        page.locator(".passage summary", has_text="stages").first.click()
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=str(target))


def _take_desk(browser: Browser, url: str, target: Path) -> None:
    with _opened(browser, 820) as employee:
        advisor = employee.context.new_page()
        employee.goto(url)
        employee.get_by_label("Country").select_option("GB")
        employee.get_by_role("textbox").fill(TROUBLE)
        employee.keyboard.press("Enter")
        employee.locator(".offer button").click()
        advisor.set_viewport_size({"width": 1440, "height": 900})
        advisor.goto(f"{url}/desk")
        advisor.locator("#advisors button").first.click()
        advisor.locator("#waiting .card").first.click()
        advisor.get_by_role("button", name=message("desk.claim")).click()
        advisor.get_by_label("Your reply").fill(
            "Thank you for telling me. Are you safe at the moment?"
        )
        advisor.keyboard.press("Enter")
        advisor.get_by_role("button", name="Suggest an answer").click()
        advisor.wait_for_selector("#suggestion .chip")
        advisor.wait_for_timeout(600)
        advisor.screenshot(path=str(target))
        advisor.get_by_role("button", name=message("desk.end_button")).click()
        employee.wait_for_selector("#bar[data-state='returned']")


def _take_admin(browser: Browser, url: str, target: Path) -> None:
    with _opened(browser, 820) as page:
        page.goto(f"{url}/admin/sources")
        page.wait_for_selector("table")
        page.screenshot(path=str(target))


def _take_playground(browser: Browser, url: str, target: Path) -> None:
    with _opened(browser, 1300) as page:
        page.goto(f"{url}/playground")
        page.get_by_label("Question").fill(QUESTION)
        page.get_by_label("Country").select_option("GB")
        page.get_by_label("Method").select_option("pa")
        page.get_by_role("button", name="Ask", exact=True).click()
        page.wait_for_selector("#trace:not([hidden])")
        page.screenshot(path=str(target))


PICTURES = {
    "chat": _take,
    "desk": _take_desk,
    "admin": _take_admin,
    "playground": _take_playground,
    "document": _take_document,
    "case": _take_case,
}
"""Of a running server; the report of the lab is a file."""


if __name__ == "__main__":
    main()
