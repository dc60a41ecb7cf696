"""A judge that says what a test tells it to, and a run that is judged in a process of its own."""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic_ai import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from lab.scripted import ScriptedTarget, cases
from ombud.lab import Judge, JudgePolicy, RunOptions, StoredReplies, parse_metrics, run_cases
from ombud.models import Chat
from ombud.prompts import load_sections
from ombud.store import open_store

Say = Callable[[str], Any]
"""What was asked -> the fields of the reply, or text that is sent as it is."""


def prompt_of(messages: list[ModelMessage]) -> str:
    return "\n".join(str(getattr(part, "content", "")) for part in messages[0].parts)


def scripted(say: Say) -> Chat:
    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        said = say(prompt_of(messages))
        text = said if isinstance(said, str) else json.dumps(said)
        if not info.output_tools:
            return ModelResponse(parts=[TextPart(text)])
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, text)])

    return Chat("scripted:judge", FunctionModel(reply))


def judge(say: Say, policy: Mapping[str, Any] | None = None, **more: Any) -> Judge:
    words = load_sections("judge").words
    return Judge(scripted(say), words, JudgePolicy(**(policy or {})), **more)


def main() -> None:
    """One judged run of a process that may be killed: folder, number of cases. Every verdict that
    is asked for is noted in a file."""
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    store = open_store("", folder)
    log = folder / "judged.txt"

    def say(prompt: str) -> dict[str, Any]:
        asked = next(line for line in prompt.splitlines() if "how long is my holiday" in line)
        grade = 4 if "1 to 5" in prompt else 5
        with log.open("a") as file:
            file.write(f"{asked.partition(':')[0]}-{grade}\n")
        return {"reason": "as it is", "grade": grade}

    def of_run(run_id: str) -> Judge:
        return judge(say, replies=StoredReplies(store, run_id))

    names = "hypa.absolute_correctness,hypa.absolute_correctness_general,hypa.good"
    options = RunOptions(parse_metrics(names), "judged", "scripted")
    asyncio.run(run_cases(cases(count), ScriptedTarget(), store, options, judge_of=of_run))


if __name__ == "__main__":
    main()
