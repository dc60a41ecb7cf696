"""What does triage do to people's questions, with the documents behind it and no chat model?

Asks the sample's test split and the messages that were written apart, and writes
docs/results/triage-flow.md. Real
handbooks are not indexed for this: of their questions it says what the classifier alone would flag.
Run: python benchmarks/quality/triage.py"""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from ombud.app import Workspace, asking
from ombud.lab import read_cases, split_of
from ombud.training import read_labelled_messages, wilson_rate
from ombud.types import Answer, Case, Person, Question

ROOT = Path(__file__).parents[2]
HEAD = Path(__file__).with_name("triage_header.md")
OUT = ROOT / "docs/results/triage-flow.md"
OUTSIDE = "triage_is_out_of_scope"


def main() -> None:
    workspace = Workspace(ROOT / "sample")
    cases = [
        c for path in sorted((ROOT / "sample/cases").glob("*.jsonl")) for c in read_cases(path)
    ]
    answered = [(c, _ask(workspace, c)) for c in cases if split_of(c.id) == "test"]
    apart = read_labelled_messages(ROOT / "tests/data/triage-apart.jsonl")
    told = [
        (m, _ask(workspace, Case(id="apart", question=m.text, person=Person(country="GB"))))
        for m in apart
    ]
    answerable = [a for c, a in answered if c.expect == "answer"]
    triage = workspace.answering.triage
    assert triage
    books = [
        c
        for path in sorted((ROOT / "tests/data").glob("handbooks-*.jsonl"))
        for c in read_cases(path)
    ]
    seen = [triage(c.question) for c in books if c.expect == "answer"]
    rows = [
        _row("sample, answerable: denied as out of scope", [_outside(a) for a in answerable]),
        _row("sample, answerable: handed to a person", [a.action == "handoff" for a in answerable]),
        _row("sample, off topic or incoherent: denied", [a.outcome == "denied" for c, a in answered
                                                         if c.type in ("off_topic", "incoherent")]),
        _row("sample, sensitive: handed to a person", [a.action == "handoff" for c, a in answered
                                                       if c.type == "sensitive"]),
        _row("sample, vague: asked back", [a.action == "clarify" for c, a in answered if c.type == "vague"]),
        _row("handbooks, answerable: flagged out of scope", [s.label == "out_of_scope" for s in seen]),
        _row("handbooks, answerable: flagged sensitive", [s.label == "sensitive" for s in seen]),
        *(_row(f"apart, {label}: {name}", [test(a) for m, a in told if m.label == label]) for label, name, test in (
            ("sensitive", "handed to a person", lambda a: a.action == "handoff"),
            ("out_of_scope", "denied", lambda a: a.outcome == "denied"),
            ("ordinary", "handed to a person", lambda a: a.action == "handoff"),
            ("ordinary", "denied as out of scope", _outside),
        )),
    ]  # fmt: skip
    cost = _cost(workspace, [m.text for m in apart])
    table = "\n".join(["| what | share | 95 % | n |", "|---|---:|---|---:|", *rows])
    said = f"Triage of one message: {cost:.1f} ms of processor time in the mean over {len(apart)}, embedding included."
    OUT.write_text(f"{HEAD.read_text(encoding='utf-8')}\n{table}\n\n{said}\n", encoding="utf-8")
    print(OUT.read_text(encoding="utf-8"))


def _ask(workspace: Workspace, case: Case) -> Answer:
    question = Question(
        text=case.question, asker=case.person, history=case.history, as_of=case.as_of
    )
    return asyncio.run(asking.ask(workspace, question, keep=False))


def _outside(answer: Answer) -> bool:
    return OUTSIDE in answer.trace.signals and (answer.outcome, answer.action) == ("denied", "none")


def _row(name: str, hits: Sequence[bool]) -> str:
    one = wilson_rate(name, hits)
    return f"| {name} | {one.value:.3f} | [{max(0.0, one.low):.3f}, {one.high:.3f}] | {one.of} |"


def _cost(workspace: Workspace, texts: Sequence[str]) -> float:
    """Milliseconds of processor time, which other work on the machine does not change much."""
    triage = workspace.answering.triage
    assert triage
    started = time.process_time()
    for text in texts:
        triage(f"{text} Thanks.")  # words that no vector is remembered of
    return 1000 * (time.process_time() - started) / len(texts)


if __name__ == "__main__":
    main()
