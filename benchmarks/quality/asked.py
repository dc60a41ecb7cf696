"""Does ombud listen, and lead with the answer? Messages as people write them, without a chat model.

The sets in tests/data/asked were written by people who had seen titles of pages only, and labelled
by reading (tests/data/asked/README.md). Asked over the sample and three public handbooks (those are
left out where they do not lie beside the repository). Conversations are played: the assistant's own
answers are the history. Prints a table, and with --write research/results/asked.md; with --answers each
answer as a JSON line, to be read. Run: make asked"""

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from math import sqrt
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

sys.path.append(str(Path(__file__).parents[1] / "speed"))
from corpora import DATA, open_corpus
from record import ROOT, commit, say

from ombud.app import Workspace, asking
from ombud.lab import read_cases, split_of
from ombud.lab.metrics.answers import is_not_sure, meets, outcome_class
from ombud.types import Answer, Case, Message, Person, Question

ASKED = ROOT / "tests/data/asked"
HANDBOOKS = {"gsa-tts-us": "US", "turing-reg-uk": "GB", "sourcegraph-global": ""}
CASES = ("plain", "terse", "typos", "own", "near", "foreign", "noise", "sensitive", "logistics")
TOML = """[general]
name = "{name}"

[[source]]
name = "{name}"
path = "{path}"
{country}
"""


class Asked(NamedTuple):
    """One message and what came back."""

    case: Case
    answer: Answer

    @property
    def corpus(self) -> str:
        return self.case.tags[1]

    @property
    def outcome(self) -> str:
        """answered | not sure | not found | outside | clarify | handoff."""
        kind = outcome_class(self.answer)
        if kind != "deny":
            return "answered" if kind == "answer" else kind
        if is_not_sure(self.answer):
            return "not sure"
        return "not found" if self.answer.action == "contact" else "outside"

    @property
    def shows_gold(self) -> bool:
        """Whether a gold quote, or another place that says the same, is in the answer."""
        return self.gold_places > 0

    @property
    def gold_places(self) -> int:
        cited = self.answer.citations
        return sum(any(meets(one, item) for one in cited) for item in self.case.evidence)

    @property
    def leads_with_gold(self) -> bool:
        first = self.answer.citations[:1]
        return any(meets(one, item) for one in first for item in self.case.evidence)


class Turn(NamedTuple):
    conversation: str
    kind: str
    text: str
    subject: str
    answer: Answer
    pages: tuple[str, ...]
    """Of the right subject."""
    pages_before: tuple[str, ...]
    """Of the subject before."""
    expect: str

    @property
    def pages_shown(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.uri for one in self.answer.citations))

    @property
    def right_subject(self) -> bool:
        """The first that is shown is of the right subject; nothing shown is right where the
        documents have nothing."""
        if not self.pages_shown:
            return self.expect != "answer"
        return self.pages_shown[0] in self.pages

    @property
    def subject_before(self) -> bool:
        """A new subject, answered with pages of the one before it."""
        first = self.pages_shown[:1]
        is_before = bool(first) and first[0] in self.pages_before and first[0] not in self.pages
        return self.kind == "new_subject" and is_before


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--split", default="dev", choices=["dev", "test"])
    parser.add_argument("--sets", default=",".join((*CASES, "turns")))
    parser.add_argument("--corpora", default="")
    parser.add_argument("--answers", type=Path, help="a file for the answers, one JSON line each")
    parser.add_argument("--write", action="store_true", help="write research/results/asked.md")
    chosen = parser.parse_args()
    workspaces = open_workspaces(chosen.corpora.split(",") if chosen.corpora else None)
    lines = [f"## Measured on {chosen.split}, {commit()}", ""]
    asked: list[Asked] = []
    turns: list[Turn] = []
    for name in chosen.sets.split(","):
        if name == "turns":
            turns = list(play(workspaces, chosen.split))
        else:
            asked += ask_set(workspaces, name, chosen.split)
    lines += table(asked)
    lines += turns_table(turns)
    print("\n".join(lines))
    if chosen.answers:
        keep_answers(chosen.answers, asked, turns)
    if chosen.write:
        target = ROOT / "research/results/asked.md"
        header = Path(__file__).with_name("asked_header.md").read_text(encoding="utf-8")
        target.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")


def open_workspaces(names: Sequence[str] | None = None) -> dict[str, Workspace]:
    """Corpus -> its workspace; those that are not there are left out."""
    workspaces: dict[str, Workspace] = {}
    if names is None or "sample" in names:
        workspaces["sample"] = Workspace(ROOT / "sample")
    for name, country in HANDBOOKS.items():
        path = DATA / "handbooks" / name
        if (names is not None and name not in names) or not path.is_dir():
            continue
        line = f'country = "{country}"' if country else ""
        workspaces[name] = open_corpus(name, TOML.format(name=name, path=path, country=line))
    return workspaces


def ask_set(workspaces: dict[str, Workspace], name: str, split: str) -> Iterator[Asked]:
    for case in read_cases(ASKED / f"{name}.jsonl"):
        workspace = workspaces.get(case.tags[1])
        if workspace is None or split_of(case.id) != split:
            continue
        yield Asked(case, ask(workspace, case.question, case.person))
    say(f"{name} asked")


def ask(workspace: Workspace, text: str, person: Person, history: Sequence[Message] = ()) -> Answer:
    question = Question(text=text, asker=person, history=tuple(history))
    return asyncio.run(asking.ask(workspace, question, keep=False))


def play(workspaces: dict[str, Workspace], split: str) -> Iterator[Turn]:
    for line in (ASKED / "turns.jsonl").read_text(encoding="utf-8").splitlines():
        conversation = json.loads(line)
        workspace = workspaces.get(conversation["corpus"])
        if workspace is None or split_of(conversation["id"]) != split:
            continue
        yield from played(workspace, conversation)
    say("turns played")


def played(workspace: Workspace, conversation: dict[str, Any]) -> Iterator[Turn]:
    person = Person(**conversation["person"])
    history: list[Message] = []
    pages_before: tuple[str, ...] = ()
    for turn in conversation["turns"]:
        answer = ask(workspace, turn["text"], person, history)
        history.append(Message(role="user", content=turn["text"]))
        history.append(Message(role="assistant", content=answer.text))
        pages = tuple(turn.get("pages", ()))
        yield Turn(
            conversation=conversation["id"],
            kind=turn["kind"],
            text=turn["text"],
            subject=turn.get("subject", ""),
            answer=answer,
            pages=pages,
            pages_before=pages_before,
            expect=turn["expect"],
        )
        pages_before = pages or pages_before


# Tables -------------------------------------------------------------------------------------------

OUTCOMES = ("answered", "not sure", "not found", "outside", "clarify", "handoff")


def table(asked: Sequence[Asked]) -> Iterator[str]:
    yield (
        "| set | expect | n | " + " | ".join(OUTCOMES) + " | gold shown | gold first | words | s |"
    )
    yield "|" + "---|" * (len(OUTCOMES) + 7)
    for name in CASES:
        of_set = [one for one in asked if one.case.tags[0] == name]
        for expect in ("answer", "deny", "clarify", "handoff"):
            yield from _rows(name, expect, [one for one in of_set if one.case.expect == expect])
    yield ""
    yield from groups(asked)


def _rows(name: str, expect: str, asked: Sequence[Asked]) -> Iterator[str]:
    if not asked:
        return
    outcomes = [one.outcome for one in asked]
    shares: list[str] = []
    for kind in OUTCOMES:
        shares.append(share([outcome == kind for outcome in outcomes], bool))
    labelled = [one for one in asked if one.case.evidence]
    gold = share(labelled, lambda one: one.shows_gold)
    first = share(labelled, lambda one: one.leads_with_gold)
    words = median(len(one.answer.text.split()) for one in asked)
    seconds = median(one.answer.trace.seconds["total"] for one in asked)
    cells = [name, expect, str(len(asked)), *shares, gold, first, f"{words:.0f}", f"{seconds:.2f}"]
    yield f"| {' | '.join(cells)} |"


def groups(asked: Sequence[Asked]) -> Iterator[str]:
    """What the goals of single groups are measured on."""
    sensitive = [one for one in asked if one.case.tags[0] == "sensitive"]
    danger = [one for one in sensitive if "danger" in one.case.tags]
    calm = [one for one in asked if one.case.tags[0] != "sensitive"]
    answerable = [one for one in asked if one.case.expect == "answer" and one.case.evidence]
    rows: list[tuple[str, Sequence[Asked], Callable[[Asked], bool]]] = [
        ("sensitive found", sensitive, lambda one: one.outcome == "handoff"),
        ("danger: emergency lines", danger, _has_emergency),
        ("not sensitive: handed over", calm, lambda one: one.outcome == "handoff"),
        ("not sensitive: emergency lines", calm, _has_emergency),
        ("answerable: gold shown", answerable, lambda one: one.shows_gold),
    ]
    for name, of_group, holds in rows:
        if of_group:
            yield f"* {name}: {share(of_group, holds)} (n {len(of_group)})"
    yield ""


def _has_emergency(one: Asked) -> bool:
    return one.answer.trace.signals.get("emergency", 0.0) > 0


def turns_table(turns: Sequence[Turn]) -> Iterator[str]:
    yield "| turns | n | right subject | of the subject before | handed over |"
    yield "|---|---|---|---|---|"
    for kind in ("first", "follow_up", "new_subject"):
        of_kind = [turn for turn in turns if turn.kind == kind]
        if not of_kind:
            continue
        right = share(of_kind, lambda turn: turn.right_subject)
        before = share(of_kind, lambda turn: turn.subject_before)
        handed = share(of_kind, lambda turn: turn.answer.action == "handoff")
        yield f"| {kind} | {len(of_kind)} | {right} | {before} | {handed} |"
    later = [turn for turn in turns if turn.kind in ("follow_up", "new_subject")]
    if later:
        right = share(later, lambda turn: turn.right_subject)
        yield f"| all later | {len(later)} | {right} | | |"


def share(rows: Sequence[Any], holds: Callable[[Any], bool]) -> str:
    """Such as `.714 [.60, .80]`, the interval Wilson's; of nothing a dash."""
    if not rows:
        return "–"
    count = sum(map(holds, rows))
    low, high = wilson(count, len(rows))
    return f"{count / len(rows):.3f} [{low:.2f}, {high:.2f}]"


def wilson(count: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927)."""
    z = 1.959964
    middle = (count + z * z / 2) / (of + z * z)
    half = z / (of + z * z) * sqrt(count * (of - count) / of + z * z / 4)
    return max(0.0, middle - half), min(1.0, middle + half)


def keep_answers(path: Path, asked: Sequence[Asked], turns: Sequence[Turn]) -> None:
    rows: list[dict[str, Any]] = []
    for one in asked:
        rows.append(
            {
                "id": one.case.id,
                "corpus": one.corpus,
                "question": one.case.question,
                "person": one.case.person.model_dump(exclude_defaults=True),
                "expect": one.case.expect,
                "reference": [reference.text for reference in one.case.references],
                "gold": [item.quote for item in one.case.evidence],
                "outcome": one.outcome,
                "confidence": one.answer.trace.signals.get("confidence"),
                "gold_shown": one.shows_gold,
                "gold_first": one.leads_with_gold,
                "answer": _as_read(one.answer),
            }
        )
    for turn in turns:
        rows.append(
            {
                "id": turn.conversation,
                "turn": turn.text,
                "kind": turn.kind,
                "subject": turn.subject,
                "right_subject": turn.right_subject,
                "subject_before": turn.subject_before,
                "pages": turn.pages,
                "shown": turn.pages_shown,
                "answer": _as_read(turn.answer),
            }
        )
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _as_read(answer: Answer) -> str:
    contacts = "; ".join(contact.name for contact in answer.contacts)
    return f"{answer.text}\n\nContact: {contacts}" if contacts else answer.text


if __name__ == "__main__":
    main()
