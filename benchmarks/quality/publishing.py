"""What a check of drafts finds: changes planted into pages of the sample, one at a time.

Run: .venv/bin/python benchmarks/quality/publishing.py HOME [--n 30] [--seed 1]

HOME: a copy of the sample with its index. A draft is a Markdown page of the handbook with one
figure of one sentence changed (found: an answer states the new figure with the draft and not
without), with one section taken out (found: an answer is newly refused, has lost figures or cites
another document), or in the same words (every change that is counted is a false alarm).
"""

import argparse
import random
import re
import tempfile
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from ombud.app import DraftCheck, DraftChoices, QuestionChoices, Workspace, check_drafts

DAY = date(2027, 1, 1)
FIGURE = re.compile(r"\b(\d{1,3}) (days|weeks|months|hours|working days|per cent|%|km)")
DATED = ("effective_from:", "supersedes:", "status:")


def pages(home: Path) -> Iterator[tuple[str, str]]:
    """uri, text without its dates; pages in force that say nothing of their own end."""
    for path in sorted((home / "handbook").rglob("*.md")):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        if any(line.startswith("effective_to:") for line in lines) or "-202" in path.stem:
            continue
        kept = [line for line in lines if not line.startswith(DATED)]
        yield path.relative_to(home).as_posix(), "".join(kept)


def changed_figure(text: str, chance: random.Random) -> tuple[str, str] | None:
    """The text with one figure doubled and one more, and that figure."""
    body = text.index("\n---", 3)
    found = [match for match in FIGURE.finditer(text) if match.start() > body]
    if not found:
        return None
    match = chance.choice(found)
    new = str(2 * int(match[1]) + 1)
    return f"{text[: match.start()]}{new}{text[match.end(1) :]}", new


def without_section(text: str, chance: random.Random) -> str | None:
    sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    if len(sections) < 4:
        return None
    del sections[chance.randrange(2, len(sections) - 1)]
    return "".join(sections)


def check(workspace: Workspace, uri: str, text: str) -> DraftCheck:
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / Path(uri).name
        draft.write_text(text, encoding="utf-8")
        choices = DraftChoices(on=DAY, replaces=(uri,))
        countries = () if "/global/" not in uri else ("GB",)
        return check_drafts(workspace, [draft], choices, QuestionChoices(countries=countries))


def has_figure(made: DraftCheck, figure: str) -> bool:
    written = [one for change in made.found.answers for one in change.figures_after]
    return any(figure in re.findall(r"\d+", one) for one in written)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("home", type=Path)
    parser.add_argument("--n", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    workspace = Workspace(options.home)
    known = list(pages(options.home))
    drawn = [chance.choice(known) for _ in range(options.n)]
    found = planted = cut = missed = asked = 0
    alarms = same = elsewhere = 0
    began = time.monotonic()
    for uri, text in drawn:
        if made_text := changed_figure(text, chance):
            made = check(workspace, uri, made_text[0])
            planted += 1
            found += has_figure(made, made_text[1])
            asked += len(made.found.answers)
            print(f"figure {made_text[1]} {has_figure(made, made_text[1])} {uri}", flush=True)
        if shorter := without_section(text, chance):
            made = check(workspace, uri, shorter)
            cut += 1
            asked += len(made.found.answers)
            counted = made.counts
            is_seen = any(counted[kind] for kind in ("refused", "figures", "document"))
            missed += not is_seen
            print(f"section {is_seen} {counted} {uri}", flush=True)
    for uri, text in known[:: max(1, len(known) // options.n)]:
        made = check(workspace, uri, text)
        counted = made.counts
        same += len(made.found.answers)
        elsewhere += counted["elsewhere"]
        alarms += len(made.found.answers) - counted["unchanged"] - counted["elsewhere"]
        print(f"same {counted} {uri}", flush=True)
    print(f"changed figure found: {found} of {planted}")
    print(f"section taken out found: {cut - missed} of {cut}")
    print(f"same words: {alarms} changed and {elsewhere} changed elsewhere of {same} answers")
    seconds = time.monotonic() - began
    print(f"{asked + same} questions, each asked twice: {seconds:.0f} s")
    workspace.close()


if __name__ == "__main__":
    main()
