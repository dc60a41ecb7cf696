"""A target that answers from a script: to every question what its case asks for; every call is
noted."""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ombud.lab import RunOptions, parse_metrics, run_cases
from ombud.store import open_store
from ombud.types import Answer, Case, Chunk, Citation, Hit, Passage, Question, Reference, Trace

RULE = "Staff in office {n} have {days} days of leave a year, to be taken before the end of March."


def chunk(number: int) -> Chunk:
    text = RULE.format(n=number, days=20 + number % 9)
    uri = f"hr/office-{number // 4}.md"
    return Chunk(
        id=f"c{number}",
        document_id=f"d{number // 4}",
        title="Leave",
        uri=uri,
        text=text,
        start=0,
        end=len(text),
        digest="1",
    )


def cases(count: int) -> tuple[Case, ...]:
    return tuple(
        Case(
            id=f"case-{n:05}",
            question=f"{n}: how long is my holiday in office {n}?",
            references=(Reference(text=f"{20 + n % 9} days"),),
            evidence=(Passage(document=chunk(n).uri, quote=chunk(n).text),),
            tags=("even" if n % 2 == 0 else "odd",),
        )
        for n in range(count)
    )


class ScriptedTarget:
    """Finds the right passage, behind n % 3 wrong ones, and cites it. `fault` may raise for a
    question's number."""

    name = "scripted"

    def __init__(
        self, log: Path | None = None, fault: Callable[[int], None] = lambda _: None
    ) -> None:
        self.log, self.fault = log, fault
        self.asked: list[int] = []
        self.now = self.most = 0

    async def ask(self, question: Question, plan: Mapping[str, Any]) -> Answer:
        number = int(question.text.split(":")[0])
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(0)
            self.asked.append(number)
            if self.log:
                with self.log.open("a") as file:
                    file.write(f"{number}\n")
            self.fault(number)
        finally:
            self.now -= 1
        found = chunk(number)
        cited = Citation(
            chunk_id=found.id,
            document_id=found.document_id,
            title="Leave",
            uri=found.uri,
            quote=found.text,
            start=0,
            end=found.end,
            digest="1",
        )
        return Answer(
            outcome="full",
            text=f"{found.text} [1]",
            citations=(cited,),
            trace=Trace(price=0.001, tokens_in=9),
        )

    async def search(
        self, question: Question, plan: Mapping[str, Any]
    ) -> tuple[tuple[Hit, ...], Trace]:
        number = int(question.text.split(":")[0])
        order = [number + 1 + n for n in range(number % 3)] + [number]
        hits = tuple(Hit(chunk=chunk(n), score=1 / rank) for rank, n in enumerate(order, 1))
        return hits[: plan.get("k", 8)], Trace()

    def describe(self) -> dict[str, Any]:
        return {
            "config_digest": "scripted",
            "plan": {"k": 8},
            "prompts": {},
            "models": {},
            "index_version": "1",
        }

    def passages(self) -> Iterator[Chunk]:
        return iter(())

    def text_of(self, document_id: str, digest: str) -> str | None:
        return None

    def variant(self, settings: Mapping[str, Any]) -> "ScriptedTarget":
        raise NotImplementedError


def main() -> None:
    """One run of a process that may be killed: folder, number of cases."""
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    options = RunOptions(
        parse_metrics("recall@1,mrr,token_f1,citation_recall,outcome_accuracy"),
        "killed",
        "scripted",
    )
    store = open_store(
        os.environ.get("TEST_POSTGRES_URL", "") if "--postgresql" in sys.argv else "", folder
    )
    run = asyncio.run(run_cases(cases(count), ScriptedTarget(folder / "asked.txt"), store, options))
    print(json.dumps({"run": run.id}))


if __name__ == "__main__":
    main()
