"""Pairs of answers of which people, or a judge, prefer one: for fine-tuning by preference.

A record is {prompt, chosen, rejected}, as trainers of direct preference optimisation read it
(Rafailov et al. 2023, arXiv:2305.18290). The prompt is the conversation, without the passages: the
two answers may have had different ones."""

import json
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from ombud.errors import BadRequest
from ombud.lab.metrics.answers import body
from ombud.lab.people.ratings import Rating
from ombud.lab.report.comparing import RecordedRun, direction
from ombud.types import Message, Observation


class Preference(NamedTuple):
    prompt: str
    chosen: str
    rejected: str
    margin: float
    """How much better the chosen one is, in what was compared."""


class RatedAnswer(NamedTuple):
    """An answer that people got, and their thumb on it."""

    prompt: str
    audience: str
    """Whoever had another country was asking something else."""
    answer: str
    thumb: int


Values = Mapping[str, Mapping[str, float]]
"""Run -> case -> how good its answer is; higher is better."""


def prompt_of(question: str, history: Iterable[Message] = ()) -> str:
    """The conversation as one text, the question last."""
    if not (turns := [f"{turn.role}: {turn.content}" for turn in history]):
        return question
    return "\n".join((*turns, f"user: {question}"))


def values_of_metric(runs: Iterable[RecordedRun], metric: str) -> Values:
    """Scores of runs; raises BadRequest for a metric of which neither more nor less is better, and
    where none of the runs has it."""
    sign = direction(metric)
    if not sign:
        raise BadRequest(f"`{metric}` prefers no answer: neither more nor less of it is better.")
    values: dict[str, dict[str, float]] = {}
    for recorded in runs:
        scores = values.setdefault(recorded.run.id, {})
        for case, score in recorded.values(metric).items():
            if score.value is not None:
                scores[case] = sign * score.value
        if not scores:
            raise BadRequest(
                f"Run {recorded.run.id} has no `{metric}`.",
                hint=f"`ombud lab rescore {recorded.run.id} --metrics {metric}` adds it.",
            )
    return values


def values_of_ratings(
    ratings: Iterable[Rating], origins: Mapping[str, tuple[str, str]], criterion: str = ""
) -> Values:
    """Means of what people gave, over criteria and raters. origins: item -> (run, case)."""
    given: dict[tuple[str, str], list[float]] = {}
    for rating in ratings:
        if rating.item in origins and criterion in {"", rating.criterion}:
            given.setdefault(origins[rating.item], []).append(rating.value)
    values: dict[str, dict[str, float]] = {}
    for (run, case), found in given.items():
        values.setdefault(run, {})[case] = fmean(found)
    return values


def preferences_of_runs(
    first: RecordedRun, second: RecordedRun, values: Values, margin: float = 0.0
) -> list[Preference]:
    """A pair for each case whose answers differ in words, and in value by more than `margin`."""
    own = _answered(first)
    pairs: list[Preference] = []
    for case, other in _answered(second).items():
        if case not in own:
            continue
        before = values.get(first.run.id, {}).get(case)
        after = values.get(second.run.id, {}).get(case)
        if before is None or after is None or abs(after - before) <= margin:
            continue
        texts = [_text(own[case]), _text(other)]
        if texts[0] == texts[1]:
            continue
        if after < before:
            texts.reverse()
        asked = own[case].case
        prompt = prompt_of(asked.question, asked.history)
        pairs.append(Preference(prompt, texts[1], texts[0], abs(after - before)))
    return pairs


def preferences_of_thumbs(answers: Sequence[RatedAnswer]) -> list[Preference]:
    """Of one question, asked for one audience: each answer that helped before each that did not."""
    asked: dict[tuple[str, str], list[RatedAnswer]] = {}
    for one in answers:
        asked.setdefault((" ".join(one.prompt.casefold().split()), one.audience), []).append(one)
    pairs: dict[tuple[str, str, str], Preference] = {}
    for own in asked.values():
        liked = [one for one in own if one.thumb > 0]
        disliked = [one for one in own if one.thumb < 0]
        for good in liked:
            for bad in disliked:
                if good.answer != bad.answer:
                    pair = Preference(good.prompt, good.answer, bad.answer, 2.0)
                    pairs[pair.prompt, pair.chosen, pair.rejected] = pair
    return list(pairs.values())


def preference_lines(pairs: Iterable[Preference]) -> str:
    """JSON lines with prompt, chosen and rejected."""
    lines: list[str] = []
    for pair in pairs:
        row = {"prompt": pair.prompt, "chosen": pair.chosen, "rejected": pair.rejected}
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    return "".join(lines)


def _answered(recorded: RecordedRun) -> dict[str, Observation]:
    return {seen.case.id: seen for seen in recorded.observations if seen.answer}


def _text(seen: Observation) -> str:
    return body(seen.answer).strip() if seen.answer else ""
