"""Answers from recorded drafts of a strong model: what proof leaves of them, and what they cost.

`--give FOLDER` writes what the model is told, one file a question, for whoever writes what it says
apart; without it the drafts of tests/data/recorded are composed, with `--recording again` those of
the second time, whose understanding and repairs are recorded as well. Writes
research/results/drafts.md."""

import argparse
import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import copy_context
from functools import cache, partial
from hashlib import sha256
from html import unescape
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

sys.path += [str(Path(__file__).parents[2] / part) for part in (".", "benchmarks/speed", "tests")]
from baseline import handbooks
from figures import wilson_rate
from record import ROOT, commit, say

from models.replaying import Replay, replay
from ombud.answer import check_claim
from ombud.app import Workspace, asking
from ombud.lab import split_of
from ombud.models import Call, recorded
from ombud.types import Answer, Chunk, Message, Person, Question

RECORDED = ROOT / "tests/data/recorded"
PASSAGE = re.compile(
    r'<passage label="(?P<label>\w+)"[^>]*?title="(?P<title>[^"]*)"[^>]*>\n(?P<body>.*?)\n</passage>',
    re.DOTALL,
)
SEARCH = ("strategy", "rerank", "graph", "embed", "search", "fuse", "late")
"""Steps of the search in a trace."""
WRITING = 0.3
"""Seconds that a draft takes to come, as of the fastest of models; while it does passages are
read."""
NO_REPAIR: dict[str, Any] = {"claims": []}
STAND_INS: dict[str, dict[str, Any]] = {
    "understand": {"standalone": ""},
    "triage": {"label": "ordinary", "danger": False},
    "compose": {"outcome": "denied", "claims": []},
    "repair": NO_REPAIR,
}
"""What is said while prompts are only collected."""
FAILED = re.compile(r"^Claim (?P<number>\d+), citing [^:]*: (?P<claim>.*)$", re.MULTILINE)
"""A claim in the prompt of a repair."""


class Recording(NamedTuple):
    """What a model's writers said, and how it was asked."""

    texts: Sequence[str]
    passages: str
    """Files of tests/data/recorded."""
    plan: Mapping[str, Any]
    """Of the sample's questions."""


RECORDINGS = {
    # Of the sample's questions nothing was recorded that a model made of them for the search.
    "first": Recording(
        texts=("texts.jsonl", "drafts-texts.jsonl"),
        passages="drafts-passages.jsonl",
        plan={"strategies": ["standard"]},
    ),
    "again": Recording(texts=("again-texts.jsonl",), passages="again-passages.jsonl", plan={}),
}


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
    own_seconds: float
    """Of the answer without its calls and its search."""

    @property
    def tokens(self) -> int:
        """Of all that the model was sent, forms of the replies included."""
        return sum(map(_tokens, self.bodies))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--recording", choices=RECORDINGS, default="first")
    parser.add_argument("--give", type=Path)
    parser.add_argument("--role", choices=STAND_INS, default="compose", help="with --give")
    parser.add_argument("--answers", type=Path, help="what was shown, one JSON a line")
    parser.add_argument("--write", action="store_true", help="write research/results/drafts.md")
    chosen = parser.parse_args()
    if chosen.give:
        give(chosen.give, chosen.recording, chosen.role)
        return
    names = list(RECORDINGS) if chosen.write else [chosen.recording]
    lines: list[str] = []
    for name in names:
        answered = list(composed(scored_texts(name), name))
        if chosen.answers:
            keep(chosen.answers, answered)
        lines += ["", *report(answered, name)] if lines else report(answered, name)
        if name == "first":
            lines += wrong_claims(answered)
    print("\n".join(lines))
    if chosen.write:
        head = Path(__file__).with_name("drafts_header.md").read_text(encoding="utf-8").rstrip()
        target = ROOT / "research/results/drafts.md"
        target.write_text("\n".join([head, "", *lines]) + "\n", encoding="utf-8")


def read_given() -> list[Given]:
    given: list[Given] = []
    for row in read_lines(RECORDED / "drafts-given.jsonl"):
        history = tuple(Message.model_validate(turn) for turn in row["history"])
        question = Question(
            text=row["question"],
            asker=Person(country=row["country"]),
            history=history,
        )
        given.append(Given(row["id"], row["corpus"], question))
    return given


def read_texts(recording: str = "first") -> dict[str, dict[str, Any]]:
    """Id of a question -> role -> what was said."""
    texts: dict[str, dict[str, Any]] = {}
    for name in RECORDINGS[recording].texts:
        for row in read_lines(RECORDED / name):
            texts.setdefault(row["id"], {}).update(row)
    return {one.id: texts.get(one.id, {}) for one in read_given()}


@cache
def read_passages(recording: str = "first") -> dict[str, dict[str, str]]:
    """Id of a question -> label -> digest of the passage that its draft's writer saw under it."""
    rows = read_lines(RECORDED / RECORDINGS[recording].passages)
    return {row["id"]: row["passages"] for row in rows}


def fitted(seen: Mapping[str, str], role: str, prompt: str, said: Mapping[str, Any]) -> Any:
    """A recorded draft with the labels that its passages have in today's prompt, without the claims
    over passages that are no longer shown: the search has changed since it was written."""
    if role == "repair":
        return _repaired(prompt, said)
    if role != "compose":
        return said
    today = labels_today(seen, prompt)
    claims: list[dict[str, Any]] = []
    for claim in said["claims"]:
        if all(label in today for label in claim["passages"]):
            claims.append(claim | {"passages": [today[label] for label in claim["passages"]]})
    sources: list[dict[str, Any]] = []
    for source in said.get("sources", []):
        if source["passage"] in today:
            sources.append(source | {"passage": today[source["passage"]]})
    outcome = "denied" if said["claims"] and not claims else said["outcome"]
    return {**said, "outcome": outcome, "claims": claims, "sources": sources}


def _repaired(prompt: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """The recorded repairs of the claims that failed, numbered as they are now."""
    repairs = {claim["of"]: claim for claim in said["claims"]}
    claims: list[dict[str, Any]] = []
    for match in FAILED.finditer(prompt):
        if repair := repairs.get(match["claim"]):
            number = int(match["number"])
            claims.append({"number": number, "text": repair["text"], "passages": []})
    return {"claims": claims}


def labels_today(seen: Mapping[str, str], prompt: str) -> dict[str, str]:
    """Label when a draft was written -> label of the same passage in a prompt, where it is
    shown."""
    shown = {digest(match["body"]): match["label"] for match in PASSAGE.finditer(prompt)}
    return {label: shown[text] for label, text in seen.items() if text in shown}


def digest(body: str) -> str:
    """Of a passage, white space aside."""
    return sha256(" ".join(unescape(body).split()).encode()).hexdigest()[:16]


def composed(
    texts: Mapping[str, Mapping[str, Any]], recording: str = "first"
) -> Iterator[Composed]:
    """Every question, answered with what was recorded for it. texts: its id -> role -> text.

    One after the other, in one event loop as a server has, and the replaying one is told which:
    mistyped questions reach the model in other words than they were recorded under."""
    with replay({}) as server, asyncio.Runner() as runner:
        server.seconds = WRITING
        workspaces = {
            "sample": _with_model(ROOT / "sample", server, **RECORDINGS[recording].plan),
            "handbooks": _with_model(handbooks().home, server),
        }
        known_passages = read_passages(recording)
        # A model that often has nothing to say is no longer asked.
        known = [given for given in read_given() if "compose" in texts[given.id]]
        for number, given in enumerate(known):
            before = len(server.asked)
            server.case = texts[given.id]
            server.fitted = partial(fitted, known_passages.get(given.id, {}))
            workspace = workspaces[given.corpus]
            with recorded() as calls:
                asked = asking.ask(workspace, given.question, keep=False)
                answer = runner.run(asked, context=copy_context())
            seconds = answer.trace.seconds
            roles = [role for role, _ in server.asked[before:]]
            own = seconds["total"] - sum(call.seconds for call in calls)
            own -= sum(seconds.get(step, 0.0) for step in SEARCH)
            if "understand" in roles:  # else it is asked by triage, beside the search
                own += _understanding(calls)
            yield Composed(given, answer, server.bodies[before:], roles, own)
            if number % 20 == 0:
                say(f"{number} answered")


def scored_texts(recording: str) -> dict[str, dict[str, Any]]:
    """A repair that nobody recorded gives nothing back."""
    texts = read_texts(recording)
    return {given: {"repair": NO_REPAIR, **said} for given, said in texts.items()}


def report(answered: Sequence[Composed], recording: str) -> Iterator[str]:
    written = [one for one in answered if "compose" in one.roles]
    with_call = [one for one in written if "understand" in one.roles]
    drafts = _drafts(recording)
    drafted = {given: len(said["compose"]["claims"]) for given, said in drafts.items()}
    claims = sum(len(put(one, recording)) for one in written)
    without = sum(drafted[one.given.id] for one in written) - claims
    dropped = sum(len(_left_out(one)) for one in written)
    repaired = sum("repair" in one.roles for one in written)
    outcomes = Counter((one.answer.outcome, one.answer.action) for one in answered)
    yield f"## Measured, {recording}, {commit()}"
    yield ""
    yield f"* questions {len(answered)}, composed {len(written)}, claims {claims}"
    yield f"* claims whose passages the search no longer finds, not counted: {without}"
    yield f"* faithful claims left out: {share_text(dropped, claims)}"
    for split in ("dev", "test"):
        of_split = [one for one in written if split_of(one.given.id) == split]
        count = sum(len(put(one, recording)) for one in of_split)
        lost = sum(len(_left_out(one)) for one in of_split)
        yield f"  * {split}: {share_text(lost, count)}"
    yield f"* third calls: {share_text(repaired, len(written))}"
    tokens = median(one.tokens for one in with_call) if with_call else 0
    yield f"* input tokens of all calls, median of {len(with_call)} with `understand`: {tokens:.0f}"
    yield f"* own code around the calls, search apart, median: {_milliseconds(written)} ms"
    told = ", ".join(f"{outcome}/{action} {n}" for (outcome, action), n in outcomes.most_common())
    yield f"* outcomes: {told}"


@cache
def _drafts(recording: str) -> dict[str, dict[str, Any]]:
    """Id of a question -> what was recorded, of those with a draft."""
    texts = read_texts(recording)
    return {given: said for given, said in texts.items() if "compose" in said}


def put(one: Composed, recording: str) -> list[dict[str, Any]]:
    """The claims of its draft whose passages were shown, under today's labels."""
    draft = _drafts(recording)[one.given.id]["compose"]
    seen = read_passages(recording).get(one.given.id, {})
    claims: list[dict[str, Any]] = fitted(seen, "compose", _prompt(one), draft)["claims"]
    return claims


def wrong_claims(answered: Sequence[Composed]) -> Iterator[str]:
    """Of the wrong claims written apart, by kind: how many are stopped. Half of them, told by their
    digest, were looked at while the rules were made."""
    composing = {one.given.id: one for one in answered if "compose" in one.roles}
    passages = {given: _passages(one) for given, one in composing.items()}
    seen = read_passages()
    asked = {given.id: given.question.text for given in read_given()}
    texts = read_texts()
    stopped: dict[tuple[str, str], list[bool]] = {}
    for row in read_lines(RECORDED / "wrong-claims.jsonl"):
        given_id, _, place = row["key"].rpartition("/")
        if given_id not in passages:
            continue
        draft = texts[given_id]["compose"]["claims"][int(place)]
        found = passages[given_id]
        today = labels_today(seen.get(given_id, {}), _prompt(composing[given_id]))
        if not all(label in today for label in draft["passages"]):
            continue
        cited = [found[today[label]] for label in draft["passages"]]
        half = "seen" if int(sha256(row["claim"].encode()).hexdigest(), 16) % 2 else "unseen"
        is_stopped = bool(check_claim(row["claim"], cited, asked[given_id]))
        for kind in (row["kind"], "all"):
            stopped.setdefault((kind, half), []).append(is_stopped)
    if not stopped:
        return
    yield ""
    yield "| wrong claims stopped | unseen half | seen half |"
    yield "|---|---|---|"
    for kind in sorted({kind for kind, _ in stopped}):
        cells = [_share_of(stopped.get((kind, half), [])) for half in ("unseen", "seen")]
        yield f"| {kind} | {' | '.join(cells)} |"


def _prompt(one: Composed) -> str:
    """What the model was asked to write an answer from."""
    place = one.roles.index("compose")
    return str(one.bodies[place]["messages"][-1]["content"])


def _passages(one: Composed) -> dict[str, Chunk]:
    """Label -> passage, as the model was shown them."""
    found: dict[str, Chunk] = {}
    for match in PASSAGE.finditer(_prompt(one)):
        trail = tuple(unescape(match["title"]).split(" > "))
        body = match["body"]
        found[match["label"]] = Chunk(
            id=match["label"],
            document_id="d",
            title=trail[0],
            uri="u",
            trail=trail,
            text=body,
            start=0,
            end=len(body),
        )
    return found


def _share_of(hits: Sequence[bool]) -> str:
    return share_text(sum(hits), len(hits)) if hits else "–"


def keep(path: Path, answered: Sequence[Composed]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for one in answered:
            answer = one.answer
            row = {
                "id": one.given.id,
                "question": one.given.question.text,
                "country": one.given.question.asker.country,
                "outcome": answer.outcome,
                "action": answer.action,
                "shown": answer.text,
                "notes": answer.trace.notes,
                "degraded": answer.trace.degraded,
            }
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _left_out(one: Composed) -> list[str]:
    return [note for note in one.answer.trace.notes if note.startswith("claim left out")]


def share_text(count: int, of: int) -> str:
    rate = wilson_rate([number < count for number in range(of)])
    return f"{rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}] ({count} of {of})"


def _milliseconds(answered: Sequence[Composed]) -> int:
    return round(1000 * median(one.own_seconds for one in answered))


def _understanding(calls: Sequence[Call]) -> float:
    """Seconds of the calls that are a part of the search."""
    return sum(call.seconds for call in calls if call.role == "strategy")


def _tokens(body: Mapping[str, Any]) -> int:
    texts = [str(message["content"]) for message in body["messages"]]
    form = json.dumps(body.get("response_format") or body.get("tools") or "")
    count = _counter()
    return sum(count(text) for text in (*texts, form))


@cache
def _counter() -> Callable[[str], int]:
    """Word pieces, about as many as a provider counts."""
    embedder = Workspace(ROOT / "sample").embedder
    assert embedder is not None
    return embedder.count


def give(folder: Path, recording: str, role: str) -> None:
    """What the model is told in one role, one file a question; nothing else of the product. What it
    says in the roles before is what was recorded."""
    folder.mkdir(parents=True, exist_ok=True)
    roles = list(STAND_INS)
    later = roles[roles.index(role) :]
    texts: dict[str, dict[str, Any]] = {}
    for given, said in read_texts(recording).items():
        recorded_before = {name: text for name, text in said.items() if name not in later}
        texts[given] = STAND_INS | recorded_before
    for one in composed(texts, recording):
        if role in one.roles:
            body = one.bodies[one.roles.index(role)]
            (folder / f"{one.given.id}.md").write_text(_shown(body), encoding="utf-8")
        else:
            say(f"{one.given.id}: not asked: {one.answer.outcome}, {one.answer.action}")


def _shown(body: Mapping[str, Any]) -> str:
    messages = [f"--- {message['role']}\n{message['content']}" for message in body["messages"]]
    return "\n\n".join(messages) + "\n"


def _with_model(home: Path, server: Replay, **plan: Any) -> Workspace:
    models = {"chat": "openai:recorded", "base_url": server.url}
    # What was recorded speaks of chunks, found by the model's texts alone.
    as_recorded = {"own_words": False, "evidence": "chunk"}
    return Workspace(home, {"models": models, "plan": {**as_recorded, **plan}})


def read_lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
