"""What is said to the model that writes an answer: named components, put together for a persona and
a model."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from string import Template
from typing import NamedTuple

from ombud.answer.personas.personas import Persona
from ombud.answer.quoting.spans import words_in
from ombud.errors import UnknownName
from ombud.prompts import Sections, load_sections, variants
from ombud.settings import nearest
from ombud.types import Evidence, Hit, Question, Triplet

MARKS = re.compile(
    r"<\s*(/?\s*(?:passage|local_passages|global_passages|connections|earlier_messages|question|turn|message))\b",
    re.IGNORECASE,
)
"""What would open or close one of our own marks inside a document."""
BRACKETS = re.compile(r"\[\s*(/?\s*INST)\s*\]", re.IGNORECASE)
TASKS = ("compose", "question")
"""Prompts: the rules, and the message that goes with them."""
USUAL = (
    "role", "tailoring", "only-context", "ignore-irrelevant", "key-information", "insufficient-context", "format",
    "persona-length", "persona-style", "no-extraneous", "persona-reinforcement", "answer-cue",
)  # fmt: skip
"""Components that a prompt has where the plan says nothing."""
COMPONENTS = (*USUAL, "question-first", "turn-delimiters")
"""All that can be switched. Sections of other names, such as `data`, are in every prompt."""
SETS: dict[str, tuple[str, ...]] = {
    "usual": USUAL,
    "bare": tuple(f"-{name}" for name in COMPONENTS),
    "no-persona": ("-tailoring", "-persona-length", "-persona-style", "-persona-reinforcement"),
    "no-guards": ("-only-context", "-ignore-irrelevant", "-insufficient-context", "-no-extraneous"),
}
"""Several at once, by one name."""
MOST_TURNS = 6
"""Earlier messages that are told."""


class Told(NamedTuple):
    instructions: str
    message: str
    prompts: dict[str, str]
    """Prompt file -> digest, as a trace holds it."""
    notes: tuple[str, ...]


def switched(components: Sequence[str]) -> dict[str, str]:
    """Component that is on -> model whose words it has, `` for those of the model that is asked.

    `NAME` (then only the named ones are on), `-NAME`, `+NAME`, `NAME=MODEL` and the names of SETS,
    from left to right. Raises UnknownName."""
    listed = [one for entry in components for one in SETS.get(entry, (entry,))]
    named = any(re.fullmatch("[a-z-]*[a-z]", one) and not one.startswith("-") for one in listed)
    found: dict[str, str] = {} if named else dict.fromkeys(USUAL, "")
    for one in listed:
        name, _, model = one.removeprefix("+").removeprefix("-").partition("=")
        if name not in COMPONENTS:
            raise UnknownName(
                f"No component of a prompt is called `{name}`.",
                hint=nearest(name, [*COMPONENTS, *SETS]),
            )
        if one.startswith("-"):
            found.pop(name, None)
        else:
            found[name] = model
    return found


def check_components(components: Sequence[str], prompts: Path | None = None) -> None:
    """Raises UnknownName for a component, or for a model that has no words of its own for it."""
    for name, model in switched(components).items():
        if not model:
            continue
        known = {one for task in TASKS for one in variants(task, prompts)}
        if model not in known:
            raise UnknownName(
                f"No prompt is written for `{model}`, as in `{name}={model}`.",
                hint=nearest(model, known),
            )


def tell(
    question: Question,
    labels: Mapping[str, Hit],
    connections: Sequence[str],
    persona: Persona,
    components: Sequence[str],
    *,
    model: str,
    organisation: str,
    day: date,
    prompts: Path | None = None,
) -> Told:
    """The prompt of one answer. labels: label -> passage, in the order in which they are shown."""
    on = switched(components)
    values = _values(question, labels, connections, persona, organisation, day)
    files: dict[str, str] = {}
    notes: list[str] = []
    parts: dict[str, dict[str, str]] = {}
    for task in TASKS:
        found = load_sections(task, model, prompts)
        files |= {file.name: file.digest for file in found.files}
        notes += [found.note] if found.note else []
        if "" in found.words and components:
            notes.append(
                f"plan.components plays no part in {found.files[0].name}, which has no sections."
            )
        parts[task] = _swapped(task, found, on, prompts, files)
    instructions = [
        _filled(words, values) for name, words in parts["compose"].items() if _stays(name, on)
    ]
    return Told(
        "\n\n".join(filter(None, instructions)),
        _message(parts["question"], on, values),
        files,
        tuple(notes),
    )


def _stays(name: str, on: Mapping[str, str]) -> bool:
    return name in on or name not in COMPONENTS


def _swapped(
    task: str, found: Sections, on: Mapping[str, str], prompts: Path | None, files: dict[str, str]
) -> dict[str, str]:
    """The sections, those that the plan wants in another model's words in these; `files` gets what
    they come from."""
    words = dict(found.words)
    for name, model in on.items():
        if not model or name not in words:
            continue
        other = load_sections(task, model, prompts)
        words[name] = other.words.get(name, words[name])
        files |= {file.name: file.digest for file in other.files}
    return words


def _message(parts: Mapping[str, str], on: Mapping[str, str], values: Mapping[str, str]) -> str:
    order = [
        name
        for name in parts
        if _stays(name, on) and name not in ("turn-delimiters", "question-first")
    ]
    if "question-first" in on and {"question", "context"} <= set(order):
        order.remove("question")
        order.insert(order.index("context"), "question")
    message = "\n\n".join(filter(None, (_filled(parts[name], values) for name in order)))
    around = parts.get("turn-delimiters", "") if "turn-delimiters" in on else ""
    return _filled(around, {**values, "turn": message}) if around else message


def _filled(words: str, values: Mapping[str, str]) -> str:
    """A section with its values; empty where it is about nothing but values that are."""
    template = Template(words)
    needed = template.get_identifiers()
    if needed and not any(values[name] for name in needed):
        return ""
    return template.substitute(values)


def _values(
    question: Question,
    labels: Mapping[str, Hit],
    connections: Sequence[str],
    persona: Persona,
    organisation: str,
    day: date,
) -> dict[str, str]:
    def section(letter: str) -> str:
        return (
            "\n\n".join(_passage(label, h) for label, h in labels.items() if label[0] == letter)
            or "(none)"
        )

    asker = question.asker
    return {
        "organisation": organisation,
        "audience": persona.audience,
        "tailoring": persona.instructions,
        "words": str(persona.length),
        "style": " ".join(filter(None, (persona.density, persona.style, persona.vocabulary))),
        "date": day.isoformat(),
        "country": asker.country or "not given",
        "roles": ", ".join(asker.roles) or "none",
        "grade": asker.grade or "not given",
        "local": section("L"),
        "shared": section("G"),
        "connections": "\n".join(connections),
        "history": "\n".join(
            f"{m.role}: {harmless(m.content)}" for m in question.history[-MOST_TURNS:]
        ),
        "question": harmless(question.text),
        "turn": "",
    }


def _passage(label: str, hit: Hit) -> str:
    chunk = hit.chunk
    mark = " MANDATORY" if chunk.mandatory else ""
    body = harmless(f"{chunk.header}\n{chunk.text}".strip())
    title = harmless(" > ".join(chunk.trail)).replace('"', "'")
    return f'<passage label="{label}"{mark} title="{title}">\n{body}\n</passage>'


def harmless(text: str) -> str:
    """`text` without our own marks: a document cannot close the passage that it stands in."""
    return BRACKETS.sub(r"[ \1 ]", MARKS.sub(r"< \1", text))


def fit(evidence: Evidence, budget: int) -> tuple[tuple[Hit, ...], tuple[Triplet, ...]]:
    """What of the evidence fits the budget, in estimated tokens (words x 4/3): passages from the
    top, whole ones only and at least one; then connections, as many as there is room for."""
    hits: list[Hit] = []
    spent = 0.0
    for hit in evidence.hits:
        spent += words_in(f"{hit.chunk.header} {hit.chunk.text}") * 4 / 3
        if hits and spent > budget:
            return tuple(hits), ()
        hits.append(hit)
    triplets: list[Triplet] = []
    for one in evidence.triplets:
        spent += words_in(f"{one.subject} {one.predicate} {one.object}") * 4 / 3
        if spent > budget:
            break
        triplets.append(one)
    return tuple(hits), tuple(triplets)


def labelled(hits: Sequence[Hit]) -> dict[str, Hit]:
    """L1, L2, … for passages of a country, G1, G2, … for those of everywhere."""
    local = [h for h in hits if h.chunk.countries]
    shared = [h for h in hits if not h.chunk.countries]
    return {
        f"{letter}{i}": h
        for letter, hs in (("L", local), ("G", shared))
        for i, h in enumerate(hs, start=1)
    }


def connected(triplets: Sequence[Triplet], labels: Mapping[str, Hit]) -> list[str]:
    """One line a triplet, with the label of the passage that says it: what no passage in the prompt
    says is left out, for nothing could prove it."""
    places = {hit.chunk.id: label for label, hit in labels.items()}
    return [
        harmless(" ".join(f"{one.subject} | {one.predicate} | {one.object}".split()))
        + f" [{places[one.chunk_id]}]"
        for one in triplets
        if one.chunk_id in places
    ]
