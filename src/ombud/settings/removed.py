"""Settings that no longer exist: a workspace that still sets one is warned and keeps working."""

import logging
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

logger = logging.getLogger(__name__)

REMOVED_SETTINGS: dict[str, str] = {
    "publish.below_floor": "ombud report gaps asks a chat model what contradicts.",
    "publish.contradictions": "ombud report gaps asks a chat model what contradicts.",
    "answer.triage": "The shipped classifier judges; name further terms in answer.sensitive_terms.",
    "azure.refresh_seconds": "A running server looks every 30 seconds.",
    "documents.recycle": "A parser process is replaced after 1,000 documents.",
    "handoff.notify.after_seconds": "Advisors who are away are told after a minute.",
    "handoff.salesforce.token_env": "handoff.salesforce.key_env signs a token for each person.",
    "index.min_sentences": "The chunker `semantic` gathers three sentences before it cuts.",
    "index.vectors": "A passage has one vector of all its text.",
    "index.window": "The chunker `semantic` compares three sentences on each side.",
    "models.breaker_failures": "A model rests after three failed calls in a row.",
    "models.breaker_seconds": "A model that keeps failing rests for 30 seconds.",
    "models.cache": "Leave it out: providers keep what requests have in common by themselves.",
    "server.burst": "It is twice server.requests_per_minute.",
    "server.messages_per_minute": "It is server.requests_per_minute.",
    "server.person_requests_per_minute": "It is half of server.requests_per_minute.",
    "index.graph=rules": 'Set index.graph = "model"; a chat model finds more than the rules did.',
    "plan.fusion=combmnz": "`combsum` is the same sum without the count of rankings.",
    "plan.glossary": "Abbreviations are always spelt out; answer.glossary names those of your own.",
    "plan.k_simple": 'Set plan.adaptive = ["k"], and fewer passages are read where few are needed.',
    "plan.mapping": "Write it into plan.adaptive, such as { k = [3, 5, 7] }.",
    "plan.pinned": "What a request sets is always kept.",
    "plan.rerank_pool": "The best 25 passages are put in order.",
    "plan.rrf_k": "Reciprocal rank fusion damps by 60, as published.",
    "plan.stepback_with_question": "The question always stands beside the broader one.",
    "plan.reranker=mmr": "It changed nothing that could be measured; `none` keeps the order.",
    "plan.strategies=feedback": "`standard` searches with the question itself and finds more.",
}
"""Key -> one sentence on what replaces it. A key is `sync.key`, a section, or `source.*.key`;
`plan.key` also holds under [country.X], [persona.X], [experiment.X] and in requests; and
`plan.key=value` is one value, or one item of a list, of a key that stays."""


def replacement_of(path: Sequence[str], value: Any = None) -> str:
    """Return what replaces a removed setting, or value of one; empty for any other."""
    name = ".".join(path[2:] if path[2:3] == ["plan"] else path)
    for pattern, sentence in REMOVED_SETTINGS.items():
        if fnmatchcase(name, pattern) or fnmatchcase(f"{name}={value}", pattern):
            return sentence
    return ""


def without_removed(
    tree: Mapping[str, Any], place: str, path: Sequence[str] = ()
) -> dict[str, Any]:
    """Return settings without the removed ones, each of which is logged once as a warning.

    place: where they are set, such as `ombud.toml`. path: of the tables around `tree`.
    """
    left: dict[str, Any] = {}
    for key, value in tree.items():
        here = [*path, str(key)]
        if sentence := replacement_of(here, value):
            _warn(".".join(here), place, sentence)
        elif isinstance(value, Mapping):
            left[key] = without_removed(value, place, here)
        elif isinstance(value, list | tuple):
            left[key] = type(value)(items_left(value, place, here))
        else:
            left[key] = value
    return left


def items_left(items: Sequence[Any], place: str, path: Sequence[str]) -> list[Any]:
    left: list[Any] = []
    for number, item in enumerate(items):
        if isinstance(item, Mapping):
            left.append(without_removed(item, place, [*path, str(number)]))
        elif sentence := replacement_of(path, item):
            _warn(f"{'.'.join(path)} = {item!r}", place, sentence)
        else:
            left.append(item)
    return left


@cache
def _warn(name: str, place: str, sentence: str) -> None:
    logger.warning("`%s` in %s was removed and is ignored: %s", name, place, sentence)
