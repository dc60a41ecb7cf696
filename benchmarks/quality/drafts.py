"""Answers from recorded drafts of a strong model: what proof leaves of them, and what they cost.

`--give FOLDER` writes what the model is told, one file a question, for whoever writes the drafts
apart; without it the drafts of tests/data/recorded are composed. Writes docs/results/drafts.md."""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path += [str(Path(__file__).parents[1] / "speed"), str(Path(__file__).parents[2] / "tests")]
from baseline import handbooks
from record import ROOT, say

from models.replaying import Replay, replay
from ombud.app import Workspace, asking
from ombud.types import Answer, Message, Person, Question

RECORDED = ROOT / "tests/data/recorded"
DENIAL = {"outcome": "denied", "claims": []}
"""What is said while prompts are only collected."""


class Given(NamedTuple):
    """A question of the recorded set."""

    id: str
    corpus: str
    """`sample` or `handbooks`."""
    question: Question


class Composed(NamedTuple):
    given: Given
    answer: Answer
    bodies: Sequence[Mapping[str, Any]]
    """What the model was sent."""
    roles: Sequence[str]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--give", type=Path)
    chosen = parser.parse_args()
    if chosen.give:
        give(chosen.give)
    else:
        for one in composed(read_texts()):
            print(one.given.id, one.answer.outcome, one.roles, one.answer.trace.notes)


def read_given() -> list[Given]:
    given: list[Given] = []
    for row in _lines(RECORDED / "drafts-given.jsonl"):
        history = tuple(Message.model_validate(turn) for turn in row["history"])
        question = Question(
            text=row["question"],
            asker=Person(country=row["country"]),
            history=history,
        )
        given.append(Given(row["id"], row["corpus"], question))
    return given


def read_texts() -> dict[str, dict[str, Any]]:
    """Question -> role -> what was said."""
    texts: dict[str, dict[str, Any]] = {}
    for name in ("texts.jsonl", "drafts-texts.jsonl"):
        for row in _lines(RECORDED / name):
            texts.setdefault(row["id"], {}).update(row)
    return {one.question.text: texts.get(one.id, {}) for one in read_given()}


def composed(texts: Mapping[str, Mapping[str, Any]]) -> Iterator[Composed]:
    """Every question, answered with what was recorded for it. texts: question -> role -> text."""
    with replay(texts) as server:
        workspaces = {
            "sample": _with_model(ROOT / "sample", server, strategies=["standard"]),
            "handbooks": _with_model(handbooks().home, server),
        }
        for number, given in enumerate(read_given()):
            before = len(server.asked)
            workspace = workspaces[given.corpus]
            answer = asyncio.run(asking.ask(workspace, given.question, keep=False))
            roles = [role for role, _ in server.asked[before:]]
            yield Composed(given, answer, server.bodies[before:], roles)
            if number % 20 == 0:
                say(f"{number} answered")


def give(folder: Path) -> None:
    """What the model is told when it composes, one file a question; nothing else of the product."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {question: {**said, "compose": DENIAL} for question, said in read_texts().items()}
    for one in composed(texts):
        for role, body in zip(one.roles, one.bodies, strict=True):
            if role == "compose":
                (folder / f"{one.given.id}.md").write_text(_shown(body), encoding="utf-8")
                break
        else:
            say(f"{one.given.id}: no draft is asked for: {one.answer.outcome}, {one.answer.action}")


def _shown(body: Mapping[str, Any]) -> str:
    messages = [f"--- {message['role']}\n{message['content']}" for message in body["messages"]]
    return "\n\n".join(messages) + "\n"


def _with_model(home: Path, server: Replay, **plan: Any) -> Workspace:
    """plan: of the sample's questions nothing was recorded that a model made of them for the
    search."""
    models = {"chat": "openai:recorded", "base_url": server.url}
    return Workspace(home, {"models": models, "plan": plan})


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
