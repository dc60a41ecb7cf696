"""Does the first thing that people read answer them? Messages that were read, with what answers.

The 295 questions and 90 conversations of tests/data/asked/verdicts/fresh.jsonl are asked over the
sample and four public handbooks (those that do not lie beside the repository are left out), turns
behind the assistant's own answers. Of the 516 that the pages answer readers called .79 right where
the best of what they would have quoted stood under the first heading of the answer, and .07 of the
others: that share is what is printed. Nothing is fitted on these. Run: make fresh"""

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

sys.path.append(str(Path(__file__).parents[1] / "speed"))
from asked import ASKED, HANDBOOKS, ask, open_workspaces, share
from record import commit

from ombud.app import Workspace
from ombud.lab.metrics.answers import outcome_class
from ombud.types import Answer, Message, Person

READ = ASKED / "verdicts/fresh.jsonl"
ALIKE = 0.8
"""Share of the runs of three words of a quote that an answer must hold: rows of tables are quoted
in several ways."""


class Told(NamedTuple):
    row: Mapping[str, Any]
    answer: Answer

    @property
    def kind(self) -> str:
        """single | first | follow_up | new_subject."""
        return str(self.row.get("kind", "single"))

    @property
    def gold(self) -> str:
        return str(self.row["gold"][0]["quote"]) if self.row["gold"] else ""

    @property
    def leads(self) -> bool:
        """Whether the section that leads has the best quote."""
        return any(holds(first.quote, self.gold) for first in self.answer.citations[:1])

    @property
    def shows(self) -> bool:
        return holds(self.answer.text, self.gold)

    @property
    def outcome(self) -> str:
        """answer | deny | clarify | handoff."""
        return outcome_class(self.answer)


def main() -> None:
    HANDBOOKS["clef-us"] = "US"
    told = list(played(open_workspaces()))
    print("\n".join([f"## Read fresh, asked at {commit()}", "", *table(told)]))


def played(workspaces: Mapping[str, Workspace]) -> Iterator[Told]:
    history: list[Message] = []
    before = ""
    for line in READ.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        workspace = workspaces.get(row["corpus"])
        conversation = row["id"].partition("#")[0]
        if conversation != before:
            history.clear()
        before = conversation
        if workspace is None:
            continue
        answer = ask(workspace, row["question"], Person(**row["person"]), tuple(history))
        history.append(Message(role="user", content=row["question"]))
        history.append(Message(role="assistant", content=answer.text))
        yield Told(row, answer)


def holds(text: str, quote: str) -> bool:
    said = plain(text)
    wanted = plain(quote)
    if wanted and wanted in said:
        return True
    words = wanted.split()
    runs = [" ".join(words[place : place + 3]) for place in range(len(words) - 2)]
    return len(runs) > 1 and sum(run in said for run in runs) >= ALIKE * len(runs)


def plain(text: str) -> str:
    without_links = re.sub(r"\[\d+\]|\]\([^)]*\)", " ", text)
    return re.sub(r"[^a-z0-9]+", " ", without_links.lower()).strip()


def table(told: Sequence[Told]) -> Iterator[str]:
    of_kind: dict[str, list[Told]] = defaultdict(list)
    for one in told:
        of_kind[one.kind].append(one)
    yield "| | n | best quote first | shown | answered as sure | handed over | words |"
    yield "|---|---|---|---|---|---|---|"
    for kind, of_one in of_kind.items():
        answerable = [one for one in of_one if one.row["answerable"] and one.gold]
        cells = [
            kind,
            str(len(answerable)),
            share(answerable, lambda one: one.leads),
            share(answerable, lambda one: one.shows),
            share(answerable, lambda one: one.outcome == "answer"),
            share(of_one, lambda one: one.outcome == "handoff"),
            f"{median(len(one.answer.text.split()) for one in answerable):.0f}",
        ]
        yield f"| {' | '.join(cells)} |"
    unanswered = [one for one in told if not one.row["answerable"]]
    sure = share(unanswered, lambda one: one.outcome == "answer")
    yield ""
    yield f"Not in the pages (n {len(unanswered)}): answered as sure {sure}."


if __name__ == "__main__":
    main()
