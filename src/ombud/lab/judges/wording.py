"""What a judge is shown: a rubric in words, and what is to be graded between tags."""

import re
from collections.abc import Mapping, Sequence

from ombud.lab.judges.reading import INPUTS, Example, Rubric
from ombud.lab.metrics.answers import body
from ombud.types import Case, Hit, Message, Observation, PlayedTurn

_CLOSING = re.compile(r"</(question|earlier|reference|passages|answer|text)>", re.IGNORECASE)


def rubric_words(rubric: Rubric) -> dict[str, str]:
    """Return the values that a rubric gives to the placeholders of the prompt."""
    ordered = sorted(rubric.levels)
    levels = [f"{grade}: {rubric.levels[grade]}" for grade in ordered]
    examples = [_example(example, rubric) for example in (rubric.good, rubric.poor) if example]
    return {
        "what": rubric.what,
        "criteria": _listed(rubric.criteria),
        "levels": _listed(levels),
        "edges": _listed(rubric.edges or ("Take the grade whose words fit best.",)),
        "examples": "\n\n".join(examples),
        "grades": ", ".join(map(str, ordered)),
        "example": str(ordered[0]),
    }


def rubric_text(rubric: Rubric) -> str:
    """Write out the whole rubric for people."""
    words = rubric_words(rubric)
    parts = [
        f"{rubric.name} ({rubric.unit}, {rubric.better} is better): {rubric.what}",
        f"Reads: {', '.join(rubric.inputs)}.",
        f"Ask yourself:\n{words['criteria']}",
        f"The grades:\n{words['levels']}",
        f"Where it is not plain:\n{words['edges']}",
        words["examples"],
    ]
    return "\n\n".join(part for part in parts if part)


def material(texts: Mapping[str, str]) -> str:
    """Name -> text, each between its tags, which no text inside can close."""
    parts: list[str] = []
    for name, text in texts.items():
        parts.append(f"<{name}>\n{fenced(text)}\n</{name}>")
    return "\n".join(parts)


def fenced(text: str) -> str:
    """Escape words that would close the tag around the text."""
    return _CLOSING.sub(r"<\\/\1>", text)


def question_text(case: Case) -> str:
    """Return the question, preceded by the earlier conversation."""
    if not case.history:
        return case.question
    before = [f"{turn.role}: {turn.content}" for turn in case.history]
    return "\n".join([*before, f"user: {case.question}"])


def conversation_text(before: Sequence[Message], turns: Sequence[PlayedTurn]) -> str:
    lines = [f"{message.role}: {message.content}" for message in before]
    for turn in turns:
        lines += [f"user: {turn.question}", f"assistant: {turn.answer.text}"]
    return "\n".join(lines)


def reference_text(case: Case) -> str:
    """Join the reference answers for the asker's persona, or all if it has none; any one may be
    met."""
    own = [one.text for one in case.references if one.persona in {None, case.person.persona}]
    texts = own or [one.text for one in case.references]
    return "\nor:\n".join(texts)


def answer_text(observation: Observation) -> str:
    return body(observation.answer) if observation.answer else ""


def passages_text(hits: Sequence[Hit]) -> str:
    """Number the passages from 1, best first."""
    parts: list[str] = []
    for number, hit in enumerate(hits, start=1):
        where = " > ".join([hit.chunk.title, *hit.chunk.trail])
        parts.append(f"[{number}] {where}\n{hit.chunk.text}")
    return "\n\n".join(parts)


def _example(example: Example, rubric: Rubric) -> str:
    inputs: dict[str, str] = {}
    for name in INPUTS:
        if name in rubric.inputs:
            inputs[name] = getattr(example, name)
    return f"An example: {material(inputs)}\nGrade {example.grade}: {example.reason}"


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
