"""How much does a follow-up lose that is asked alone, and how much of it does its history bring
back? MTRAG, MTRAG-UN.

The corpus is every passage that comes with the tasks. MTRAG-UN's tasks have no rewritten questions.
150 tasks of MTRAG
have: their questions (last turn, rewritten by a person) lie in mtrag-queries, their passages with
the human judgements in judge/mtrag."""

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from corpora import DATA, needs, open_pages, tell
from figures import Row, differences, figure, header, table
from measuring import average, measure, paired, values
from record import say

from ombud.app import LocalTarget, Workspace
from ombud.lab import RecordedRun, mean
from ombud.types import Case, Message, Passage

UNANSWERED = DATA / "retrieval/mtrag-un/reference.jsonl"
QUERIES = DATA / "retrieval/mtrag-queries"
JUDGED = DATA / "judge/mtrag/reference_subset_with_human_evaluations.json"
MODES = ("hybrid", "sparse", "dense")
METRICS = ("recall@5", "ndcg@5")
ALONE, WITH, REWRITTEN = "last turn alone", "with history", "rewritten by a person"
WHOLE = {"index.chunk_tokens": 1024}
"""A passage is one chunk, as in MTRAG's own figures."""


class Task(NamedTuple):
    id: str
    conversation: str
    turns: Sequence[Mapping[str, Any]]
    """The last one is the question."""
    relevant: tuple[str, ...]
    """Ids of passages."""
    rewritten: str = ""


def report() -> str:
    """The Markdown of research/results/retrieval-mtrag.md; empty where the tasks are not at hand."""
    if not all([needs(UNANSWERED), needs(QUERIES), needs(JUDGED)]):
        return ""
    new, old = list(_new_tasks()), list(_old_tasks())
    texts = _texts()
    workspace = open_pages("mtrag", texts)
    lines = [header("mtrag", passages=len(texts), new=len(new), old=len(old))]
    for title, tasks in (("MTRAG-UN", new), ("MTRAG", old)):
        follows = sum(len(task.turns) > 1 for task in tasks)
        lines += [
            "",
            f"## {title}: {len(tasks)} questions, {follows} of them with something before",
            "",
        ]
        lines += _part(title, workspace, tasks)
    return "\n".join(lines) + "\n"


def _part(title: str, workspace: Workspace, tasks: Sequence[Task]) -> list[str]:
    """Conversations are drawn whole: their questions are about one subject."""
    clusters: list[Hashable] = [task.conversation for task in tasks]
    forms = _forms(tasks)
    rows, hybrid = [], {}
    for mode, changed in [*((mode, {}) for mode in MODES), ("hybrid", WHOLE)]:
        for form, cases in forms.items():
            one = _asked(f"{title} {form} {mode}", workspace, cases, mode, changed)
            chunks = "whole" if changed else "default"
            rows.append([mode, chunks, form, *(figure(average(one, m, clusters)) for m in METRICS)])
            if not changed and mode == "hybrid":
                hybrid[form] = one
    compared = [(form, hybrid[ALONE], run) for form, run in hybrid.items() if form != ALONE]
    if REWRITTEN in hybrid:
        compared.append((f"{WITH}, against {REWRITTEN}", hybrid[REWRITTEN], hybrid[WITH]))
    against = []
    for name, first, second in compared:
        for metric in METRICS:
            against.append(Row(name, metric, paired(first, second, metric, clusters)))
    return [
        *table(["mode", "chunks", "question", *METRICS], rows),
        "",
        *differences(f"hybrid, against {ALONE}", against),
        "",
        *_by_folding(hybrid, clusters),
    ]


def _by_folding(hybrid: Mapping[str, RecordedRun], clusters: Sequence[Hashable]) -> list[str]:
    """The questions whose search text had something of the history in it, and the others that had a
    history."""
    groups: dict[str, list[int]] = {"folded in": [], "left out": []}
    for place, seen in enumerate(hybrid[WITH].observations):
        if seen.case.history and seen.trace:
            folded = any(query.passage != seen.case.question for query in seen.trace.queries)
            groups["folded in" if folded else "left out"].append(place)
    rows = []
    for name, places in groups.items():
        drawn = [clusters[place] for place in places]
        for form, one in hybrid.items():
            figures = []
            for metric in METRICS:
                of_metric = values(one, metric)
                figures.append(figure(mean([of_metric[place] for place in places], drawn)))
            rows.append([name, form, str(len(places)), *figures])
    return table(["hybrid, where history was", "question", "n", *METRICS], rows)


def _asked(
    name: str, workspace: Workspace, cases: Sequence[Case], mode: str, changed: Mapping[str, Any]
) -> RecordedRun:
    say(f"{name} {dict(changed)}")
    target = LocalTarget(workspace, tell).variant(changed)
    metrics = ", ".join(METRICS)
    return measure(
        name, target, workspace.store, cases, metrics, plan={"mode": mode}, changed=changed
    )


def _forms(tasks: Sequence[Task]) -> dict[str, list[Case]]:
    forms: dict[str, list[Case]] = {ALONE: [], WITH: []}
    for task in tasks:
        evidence = tuple(Passage(document=f"pages/{name}.md", quote="") for name in task.relevant)
        turns = [(turn["speaker"], turn["text"].strip()) for turn in task.turns]
        alone = Case(id=task.id, question=turns[-1][1], type="conversational", evidence=evidence)
        before = tuple(
            Message(role="user" if speaker == "user" else "assistant", content=text)
            for speaker, text in turns[:-1]
        )
        forms[ALONE].append(alone)
        forms[WITH].append(alone.model_copy(update={"history": before}))
        if task.rewritten:
            forms.setdefault(REWRITTEN, []).append(
                alone.model_copy(update={"question": task.rewritten})
            )
    return forms


def _new_tasks() -> Iterator[Task]:
    """Those of MTRAG-UN that its passages answer, whole or in part."""
    for task in _rows(UNANSWERED):
        if task["answerability"][0] in ("ANSWERABLE", "PARTIAL"):
            yield Task(
                task["task_id"], task["conversation_id"], task["input"], _named(task["contexts"])
            )


def _old_tasks() -> Iterator[Task]:
    """Those of MTRAG whose passages came with the judgements; their qrels name just these."""
    rewritten = {
        row["_id"]: row["text"] for file in QUERIES.glob("*/*_rewrite.jsonl") for row in _rows(file)
    }
    relevant: dict[str, set[str]] = {}
    for file in QUERIES.glob("*/qrels/dev.tsv"):
        for line in file.read_text(encoding="utf-8").splitlines()[1:]:
            query, passage, _ = line.split("\t")
            relevant.setdefault(query, set()).add(passage)
    for task in _judged()["tasks"]:
        name = task["task_id"]
        if name in rewritten and relevant.get(name) == set(_named(task["contexts"])):
            question = rewritten[name].removeprefix("|user|:").strip()
            yield Task(
                name, name.partition("<::>")[0], task["input"], _named(task["contexts"]), question
            )


def _texts() -> dict[str, str]:
    """Passage id -> text, of all tasks, also of those without an answer."""
    found = {passage["document_id"]: passage["text"] for passage in _judged()["documents"]}
    found |= {
        one["document_id"]: one["text"] for task in _rows(UNANSWERED) for one in task["contexts"]
    }
    return dict(sorted(found.items()))


def _named(contexts: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(context["document_id"] for context in contexts))


def _judged() -> Any:
    return json.loads(JUDGED.read_text(encoding="utf-8"))


def _rows(file: Any) -> list[dict[str, Any]]:
    return [
        json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line.strip()
    ]
