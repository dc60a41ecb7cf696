"""Role `verify` from recorded verdicts: what it stops and lets through of what the rules leave open.

`--give FILE` writes what the model is told of each such claim, one JSON a line, for whoever judges
them apart; without it the verdicts of tests/data/recorded/verdicts.jsonl are replayed. Faithful
claims of dev, and the half of the wrong ones that may be read; with `--part unread` faithful ones
of test and the other half, by tests/data/recorded/verdicts-unread.jsonl."""

import argparse
import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

sys.path += [str(Path(__file__).parents[1] / "speed"), str(Path(__file__).parents[2] / "tests")]
from baseline import handbooks
from drafts import (
    RECORDED,
    Given,
    fitted,
    read_given,
    read_lines,
    read_passages,
    read_texts,
    share_text,
)
from record import ROOT

from models.replaying import Replay, replay
from ombud.app import Workspace, asking
from ombud.lab import split_of
from ombud.models.chat.model_client import CallPolicy

ASKED = re.compile(r"^Claim (?P<number>\d+), citing [^:]*: (?P<claim>.*)$", re.MULTILINE)
FILES = {"read": RECORDED / "verdicts.jsonl", "unread": RECORDED / "verdicts-unread.jsonl"}
SPLITS = {"read": "dev", "unread": "test"}


class Tried(NamedTuple):
    """A claim put as a whole draft, so that nothing but its own proof decides."""

    given: Given
    kind: str
    """What is wrong with it; empty for a faithful one."""
    text: str
    passages: list[str]
    """Labels when its draft was written."""


class Told(NamedTuple):
    prompt: str
    """What the verifier is told of the claim; empty where it is not asked."""
    is_shown: bool


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--give", type=Path)
    parser.add_argument("--part", choices=FILES, default="read")
    chosen = parser.parse_args()
    known = {row["claim"]: row["verdict"] for row in read_lines(FILES[chosen.part])}
    counts: Counter[tuple[str, str]] = Counter()
    with replay({}) as server:
        workspaces = _workspaces(server)
        for tried in _tried(chosen.part):
            told = _tell(server, workspaces[tried.given.corpus], tried, known)
            if told is None:
                continue
            for kind in {"faithful"} if not tried.kind else {"wrong", tried.kind}:
                counts[kind, "all"] += 1
                counts[kind, "asked"] += bool(told.prompt)
                counts[kind, "unknown"] += bool(told.prompt) and tried.text not in known
                counts[kind, "left out"] += not told.is_shown
            if told.prompt and chosen.give:
                with chosen.give.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"prompt": told.prompt}, ensure_ascii=False) + "\n")
    print("\n".join(_rows(counts)))


def _tried(part: str) -> Iterator[Tried]:
    given = {one.id: one for one in read_given()}
    texts = read_texts()
    for key, said in texts.items():
        if "compose" in said and split_of(key) == SPLITS[part]:
            for claim in said["compose"]["claims"]:
                yield Tried(given[key], "", claim["text"], claim["passages"])
    for row in read_lines(RECORDED / "wrong-claims.jsonl"):
        if int(sha256(row["claim"].encode()).hexdigest(), 16) % 2 != (part == "read"):
            continue
        key, _, place = row["key"].rpartition("/")
        claim = texts[key]["compose"]["claims"][int(place)]
        yield Tried(given[key], row["kind"], row["claim"], claim["passages"])


def _workspaces(server: Replay) -> dict[str, Workspace]:
    # What was not recorded is no outage.
    patient = partial(CallPolicy, breaker_failures=1000)
    patch("ombud.models.chat.roles.CallPolicy", patient).start()
    models = {
        "chat": "openai:recorded",
        "base_url": server.url,
        "roles": {"verify": ["openai:recorded"]},
    }
    plan = {"refine": False, "own_words": False, "evidence": "chunk"}
    return {
        "sample": Workspace(
            ROOT / "sample", {"models": models, "plan": {"strategies": ["standard"], **plan}}
        ),
        "handbooks": Workspace(handbooks().home, {"models": models, "plan": plan}),
    }


def _tell(
    server: Replay, workspace: Workspace, tried: Tried, known: Mapping[str, str]
) -> Told | None:
    """None where the claim's passages are not shown."""
    draft = {
        "outcome": "full",
        "claims": [{"text": tried.text, "passages": tried.passages}],
        "suggestions": [],
        "sources": [],
    }
    recorded = read_texts()[tried.given.id]
    server.case = {**recorded, "compose": draft, "verify": known}
    seen = read_passages().get(tried.given.id, {})
    shown: list[bool] = []
    server.fitted = partial(_fitted, seen, shown)
    before = len(server.asked)
    answer = asyncio.run(asking.ask(workspace, tried.given.question, keep=False))
    if shown != [True]:
        return None
    is_shown = answer.trace.model != "" and any(
        claim.verdict in ("supported", "derived") and claim.text == tried.text.strip()
        for claim in answer.claims
    )
    roles = [role for role, _ in server.asked[before:]]
    if "verify" not in roles:
        return Told("", is_shown)
    body = server.bodies[before + roles.index("verify")]
    return Told(str(body["messages"][-1]["content"]), is_shown)


def _fitted(
    seen: Mapping[str, str], shown: list[bool], role: str, prompt: str, said: Mapping[str, Any]
) -> Any:
    if role == "verify":
        verdicts: list[dict[str, Any]] = []
        for match in ASKED.finditer(prompt):
            verdict = said.get(match["claim"], "not_said")
            verdicts.append({"number": int(match["number"]), "verdict": verdict})
        return {"claims": verdicts}
    put = fitted(seen, role, prompt, said)
    if role == "compose":
        shown.append(bool(put["claims"]))
    return put


def _rows(counts: Mapping[tuple[str, str], int]) -> Iterator[str]:
    yield "| | claims | asked for | of these without a verdict | left out |"
    yield "|---|---|---|---|---|"
    kinds = {kind for kind, _ in counts} - {"faithful", "wrong"}
    for kind in ("faithful", "wrong", *sorted(kinds)):
        whole = counts[kind, "all"]
        cells = [share_text(counts[kind, name], whole) for name in ("asked", "left out")]
        cells.insert(1, str(counts[kind, "unknown"]))
        yield f"| {kind} | {whole} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
