"""Five published studies on our corpora: do their claims hold here, without a chat model?

Runs `python -m research.studies` on the sample and on a public handbook, and, with search texts
that a strong model wrote apart (tests/data/recorded), the search of three of them on the handbooks
together. Writes research/results/studies. The handbooks' part is left out where they do not lie beside
the repository. A study that was stopped goes on. Run: make experiments [EXPERIMENTS="hypa eva"]"""

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from baseline import TOML
from corpora import BENCH, DATA, as_read, open_corpus
from record import SHARED, say

from models.replaying import read_recorded, replay
from ombud.app import Workspace
from ombud.lab import cases_text, read_cases
from ombud.types import Case, Passage
from research import ROOT

STUDIES = ("natwest", "hypa", "wombat", "persona", "eva")
SHARES = {
    "natwest": ("0.5", "1"),
    "hypa": ("0.5", "0.6"),
    "wombat": ("0.3", "0.5"),
    "persona": ("0.3", "0.5"),
    "eva": ("0.5", "0.7"),
}
"""Of the cases of the sample and of the handbook: about ten minutes a study on two busy cores."""
WITH_TEXTS = ("wombat", "eva", "hypa")
"""Studies whose search texts are recorded."""
HANDBOOK = "gsa-tts-us"
SETS = ("plain", "terse", "typos", "own", "near")
ASKED = ROOT / "tests/data/asked"
RECORDED = ROOT / "tests/data/recorded"
REPORTS = ROOT / "research/results/studies"
CORPORA = ("sample", HANDBOOK, "recorded")
CELLS = 7
"""Of a line of a report's table of claims."""
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
        words = ["--sample", share, "--source", "handbook", "--source", "attachments"]
        carry_out(name, home, home / "cases", f"{name}-sample", *words)
    if not SHARED.is_dir():
        say(f"no handbooks in {SHARED}: their part is left out")
        write_overview()
        return
    handbook = handbook_home()
    for name in chosen:
        share = SHARES[name][1]
        cases = handbook / f"{HANDBOOK}.jsonl"
        carry_out(name, handbook, cases, f"{name}-{HANDBOOK}", "--sample", share)
    for name in WITH_TEXTS:
        if name in chosen:
            with_texts(name)
    write_overview()


def carry_out(name: str, home: Path, cases: Path, report: str, *options: str) -> None:
    """In a process of its own, as anybody would."""
    say(report)
    words = [*options, "--concurrency", "2", "--out", str(REPORTS / f"{report}.md")]
    for held in ROUTER:
        words += ["--held-out", str(ROOT / f"tests/data/{held}.jsonl")]
    command = [sys.executable, "-m", "research.studies", name, str(cases), *words]
    REPORTS.mkdir(parents=True, exist_ok=True)
    subprocess.run([*command, "--home", str(home)], cwd=ROOT, check=True)


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
        with closing(Workspace(home)) as workspace:
            server.recorded = as_read(recorded, workspace, cases)
        asked = home / "handbooks-recorded.jsonl"
        asked.write_text(cases_text(cases), encoding="utf-8")
        carry_out(name, home, asked, f"{name}-recorded", "--search")


def recorded_home(url: str) -> Path:
    home = BENCH / "handbooks-recorded"
    open_corpus(home.name, TOML.format(shared=SHARED)).close()
    with (home / "ombud.toml").open("a", encoding="utf-8") as file:
        file.write(MODEL.format(url=url))
    return home


def write_overview() -> None:
    """All verdicts on one page, read from the reports that are there."""
    header = Path(__file__).with_name("published_header.md").read_text(encoding="utf-8")
    lines = [header.rstrip()]
    for name in STUDIES:
        reports = {path.stem.partition("-")[2]: path for path in REPORTS.glob(f"{name}-*.md")}
        if reports:
            lines += ["", f"## {name}", "", *_verdicts(reports)]
    (REPORTS / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _verdicts(reports: Mapping[str, Path]) -> Iterator[str]:
    """One line a claim, one column a corpus."""
    corpora = [corpus for corpus in CORPORA if corpus in reports]
    links = [f"[{corpus}]({reports[corpus].name})" for corpus in corpora]
    yield f"| claim | who | {' | '.join(links)} |"
    yield "|---|---|" + "---|" * len(corpora)
    found = {corpus: _claims_of(reports[corpus]) for corpus in corpora}
    claims: dict[str, str] = {}
    for by_claim in found.values():
        for claim, cells in by_claim.items():
            claims[claim] = cells[1]
    for claim, who in claims.items():
        verdicts = [_verdict(found[corpus].get(claim)) for corpus in corpora]
        yield f"| {claim} | {who} | {' | '.join(verdicts)} |"


def _claims_of(report: Path) -> dict[str, list[str]]:
    """Claim -> the cells of its line in the report's first table."""
    text = report.read_text(encoding="utf-8")
    rows: dict[str, list[str]] = {}
    for line in text.split("\n## ")[1].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == CELLS and cells[0] not in ("claim", "---"):
            rows[cells[0]] = cells
    return rows


def _verdict(cells: Sequence[str] | None) -> str:
    """The verdict with the difference that it rests on."""
    if cells is None:
        return ""
    return f"{cells[6]}, {cells[3]}" if cells[3] else cells[6]


if __name__ == "__main__":
    main()
