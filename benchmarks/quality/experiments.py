"""Five published studies on our corpora: do their claims hold here, without a chat model?

Carries out `ombud lab experiment` on the sample and on a public handbook, and, with search texts
that a strong model wrote apart (tests/data/recorded), the search of three of them on the handbooks
together. Writes docs/results/studies. The handbooks' part is left out where they do not lie beside
the repository. A study that was stopped goes on. Run: make experiments [EXPERIMENTS="hypa eva"]"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path += [str(Path(__file__).parents[1] / "speed"), str(Path(__file__).parents[2] / "tests")]
from baseline import TOML
from corpora import BENCH, DATA, open_corpus
from record import ROOT, SHARED, say

from models.replaying import read_recorded, replay
from ombud.lab import cases_text, read_cases
from ombud.types import Case, Passage

STUDIES = ("natwest", "hypa", "wombat", "persona", "eva")
SHARES = {
    "natwest": ("0.5", "1"),
    "hypa": ("0.5", "1"),
    "wombat": ("0.3", "0.5"),
    "persona": ("0.3", "0.5"),
    "eva": ("0.5", "1"),
}
"""Of the cases of the sample and of the handbook: about ten minutes a study on two busy cores."""
WITH_TEXTS = ("wombat", "eva", "hypa")
"""Studies whose search texts are recorded."""
HANDBOOK = "gsa-tts-us"
SETS = ("plain", "terse", "typos", "own", "near")
ASKED = ROOT / "tests/data/asked"
RECORDED = ROOT / "tests/data/recorded"
REPORTS = ROOT / "docs/results/studies"
ROUTER = ("router-apart", "router-counter")
SAMPLE = """[[source]]
name = "handbook"
path = "handbook"
exclude = ["**/*.pdf", "**/*.docx"]

[[source]]
name = "attachments"
path = "handbook"
include = ["**/*.pdf", "**/*.docx"]
"""
PAGES = """[general]
name = "{name}"

[[source]]
name = "{name}"
path = "{path}"
country = "US"
"""
MODEL = """
[models]
chat = "openai:recorded"
base_url = "{url}"
"""


def main() -> None:
    chosen = [name for name in STUDIES if not sys.argv[1:] or name in sys.argv[1:]]
    home = sample_home()
    for name in chosen:
        share = SHARES[name][0]
        carry_out(name, home, home / "cases", f"{name}-sample", "--sample", share)
    if not SHARED.is_dir():
        say(f"no handbooks in {SHARED}: their part is left out")
        return
    handbook = handbook_home()
    for name in chosen:
        share = SHARES[name][1]
        cases = handbook / f"{HANDBOOK}.jsonl"
        carry_out(name, handbook, cases, f"{name}-{HANDBOOK}", "--sample", share)
    for name in WITH_TEXTS:
        if name in chosen:
            with_texts(name)


def carry_out(name: str, home: Path, cases: Path, report: str, *options: str) -> None:
    """In a process of its own, as anybody would."""
    say(report)
    words = [*options, "--concurrency", "2", "--out", str(REPORTS / f"{report}.md")]
    for held in ROUTER:
        words += ["--held-out", str(ROOT / f"tests/data/{held}.jsonl")]
    command = [sys.executable, "-m", "ombud", "--home", str(home)]
    REPORTS.mkdir(parents=True, exist_ok=True)
    subprocess.run([*command, "lab", "experiment", name, str(cases), *words], check=True)


def sample_home() -> Path:
    """The sample, its PDF and Word files a source of their own: pages, and their attachments."""
    home = BENCH / "sample-in-two"
    for part in ("handbook", "contacts.toml", "glossary.csv"):
        original = ROOT / "sample" / part
        if original.is_dir():
            shutil.copytree(original, home / part, dirs_exist_ok=True)
        else:
            shutil.copy2(original, home / part)
    shipped = (ROOT / "sample/ombud.toml").read_text(encoding="utf-8")
    one_source = '[[source]]\nname = "handbook"\npath = "handbook"\n'
    if one_source not in shipped:
        raise SystemExit("the sample's source is described in another way than this expects")
    open_corpus(home.name, shipped.replace(one_source, SAMPLE)).close()
    folder = home / "cases"
    folder.mkdir(exist_ok=True)
    for file in sorted((ROOT / "sample/cases").glob("*.jsonl")):
        moved = [_with_attachments(case) for case in read_cases(file)]
        (folder / file.name).write_text(cases_text(moved), encoding="utf-8")
    return home


def _with_attachments(case: Case) -> Case:
    evidence = [_moved(passage) for passage in case.evidence]
    return case.model_copy(update={"evidence": tuple(evidence)})


def _moved(passage: Passage) -> Passage:
    uri = passage.document
    if uri.endswith((".pdf", ".docx")):
        uri = uri.replace("handbook/", "attachments/", 1)
    also = [_moved(other) for other in passage.also]
    return passage.model_copy(update={"document": uri, "also": tuple(also)})


def handbook_home() -> Path:
    """One public handbook, with the messages that people wrote for it."""
    toml = PAGES.format(name=HANDBOOK, path=DATA / "handbooks" / HANDBOOK)
    open_corpus(HANDBOOK, toml).close()
    cases = [case for case in _asked() if HANDBOOK in case.tags]
    (BENCH / HANDBOOK / f"{HANDBOOK}.jsonl").write_text(cases_text(cases), encoding="utf-8")
    return BENCH / HANDBOOK


def _asked() -> Iterator[Case]:
    for name in SETS:
        yield from read_cases(ASKED / f"{name}.jsonl")


def with_texts(name: str) -> None:
    """Search alone, with a model behind it that says what was recorded."""
    recorded = read_recorded(RECORDED)
    cases: list[Case] = []
    for file in sorted((ROOT / "tests/data").glob("handbooks-*.jsonl")):
        cases += [case for case in read_cases(file) if case.question in recorded]
    with replay(recorded) as server:
        home = recorded_home(server.url)
        asked = home / "handbooks-recorded.jsonl"
        asked.write_text(cases_text(cases), encoding="utf-8")
        carry_out(name, home, asked, f"{name}-recorded", "--search")


def recorded_home(url: str) -> Path:
    home = BENCH / "handbooks-recorded"
    open_corpus(home.name, TOML.format(shared=SHARED)).close()
    with (home / "ombud.toml").open("a", encoding="utf-8") as file:
        file.write(MODEL.format(url=url))
    return home


if __name__ == "__main__":
    main()
