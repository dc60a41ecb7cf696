"""What does triage do to people's questions, with the documents behind it and no chat model?

Asks the sample's test split and the messages that were written apart, and writes
docs/results/triage-flow.md. Real handbooks are not indexed for this: of their questions it says
what the classifier alone would flag. Run: python benchmarks/quality/triage.py"""

import asyncio
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
from ombud.app import Workspace, asking
from ombud.lab import read_cases, split_of
from ombud.types import Answer, Case, Person, Question
from research.training.triage.judging import wilson_rate
from research.training.triage.labelled import read_labelled_messages

ROOT = Path(__file__).parents[2]
HEAD = Path(__file__).with_name("triage_header.md")
OUT = ROOT / "docs/results/triage-flow.md"
OUTSIDE = "triage_is_out_of_scope"
Answered = tuple[Case, Answer]


def main() -> None:
    workspace = Workspace(ROOT / "sample")
    apart = read_labelled_messages(ROOT / "tests/data/triage-apart.jsonl")
    rows = [*_sample_rows(workspace), *_handbook_rows(workspace)]
    answers: dict[str, list[Answer]] = {}
    for message in apart:
        case = Case(id="apart", question=message.text, person=Person(country="GB"))
        answers.setdefault(message.label, []).append(_ask(workspace, case))
    for label, name, holds in (
        ("sensitive", "handed to a person", _handed_over),
        ("out_of_scope", "denied", _denied),
        ("ordinary", "handed to a person", _handed_over),
        ("ordinary", "denied as out of scope", _outside),
    ):
        rows.append(_row(f"apart, {label}: {name}", map(holds, answers[label])))
    cost = _cost(workspace, [message.text for message in apart])
    table = "\n".join(["| what | share | 95 % | n |", "|---|---:|---|---:|", *rows])
    note = (
        f"Triage of one message: {cost:.1f} ms of processor time in the mean over {len(apart)}, "
        "embedding included."
    )
    OUT.write_text(f"{HEAD.read_text(encoding='utf-8')}\n{table}\n\n{note}\n", encoding="utf-8")
    print(OUT.read_text(encoding="utf-8"))


def _sample_rows(workspace: Workspace) -> Iterator[str]:
    answered: list[Answered] = []
    for case in _cases(ROOT / "sample/cases", "*.jsonl"):
        if split_of(case.id) == "test":
            answered.append((case, _ask(workspace, case)))

    def row(name: str, of: Callable[[Case], bool], holds: Callable[[Answer], bool]) -> str:
        return _row(f"sample, {name}", [holds(answer) for case, answer in answered if of(case)])

    yield row("answerable: denied as out of scope", lambda c: c.expect == "answer", _outside)
    yield row("answerable: handed to a person", lambda c: c.expect == "answer", _handed_over)
    off_topic = ("off_topic", "incoherent")
    yield row("off topic or incoherent: denied", lambda c: c.type in off_topic, _denied)
    yield row("sensitive: handed to a person", lambda c: c.type == "sensitive", _handed_over)
    yield row("vague: asked back", lambda c: c.type == "vague", lambda a: a.action == "clarify")


def _handbook_rows(workspace: Workspace) -> Iterator[str]:
    triage = workspace.answering.triage
    assert triage
    labels = []
    for case in _cases(ROOT / "tests/data", "handbooks-*.jsonl"):
        if case.expect == "answer":
            labels.append(triage(case.question).label)
    outside = [label == "out_of_scope" for label in labels]
    sensitive = [label == "sensitive" for label in labels]
    yield _row("handbooks, answerable: flagged out of scope", outside)
    yield _row("handbooks, answerable: flagged sensitive", sensitive)


def _cases(folder: Path, pattern: str) -> Iterator[Case]:
    for path in sorted(folder.glob(pattern)):
        yield from read_cases(path)


def _ask(workspace: Workspace, case: Case) -> Answer:
    question = Question(
        text=case.question, asker=case.person, history=case.history, as_of=case.as_of
    )
    return asyncio.run(asking.ask(workspace, question, keep=False))


def _handed_over(answer: Answer) -> bool:
    return answer.action == "handoff"


def _denied(answer: Answer) -> bool:
    return answer.outcome == "denied"


def _outside(answer: Answer) -> bool:
    return OUTSIDE in answer.trace.signals and (answer.outcome, answer.action) == ("denied", "none")


def _row(name: str, hits: Iterable[bool]) -> str:
    rate = wilson_rate(name, list(hits))
    return f"| {name} | {rate.value:.3f} | [{rate.low:.3f}, {rate.high:.3f}] | {rate.of} |"


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
