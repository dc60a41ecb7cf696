"""`/v1/responses`: text in, text out, whole or as a stream. Nothing is kept between requests."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from ombud.app import Workspace, asking
from ombud.channels.openai.routes import (
    Completion,
    error_response,
    parse_body,
    persona_of,
    place_of,
    read_request,
    stream_answer,
    text_steps,
    usage_of,
)
from ombud.channels.openai.shapes import ResponsesRequest, error_json
from ombud.channels.openai.wording import annotations, message_text
from ombud.types import Answer

router = APIRouter(include_in_schema=False)


@router.post("/v1/responses")
async def respond(request: Request) -> Response:
    workspace: Workspace = request.app.state.workspace
    try:
        body = ResponsesRequest.model_validate(await parse_body(request))
        persona = persona_of(workspace, body.model)
        completion = read_request(request, body.chat(), persona, body.limit())
        place = place_of(request, completion)
        if body.stream:
            pieces = stream_answer(workspace, completion, place, response_events)
            return StreamingResponse(pieces, media_type="text/event-stream")
        async with place:
            answer = await asking.ask(workspace, completion.question)
        completion.limit.take(message_text(answer), is_last=True)
        return JSONResponse(whole(completion, answer))
    except Exception as error:  # noqa: BLE001 - reported in the format of these clients
        return error_response(error)


def whole(completion: Completion, answer: Answer) -> dict[str, Any]:
    """Return the finished response."""
    text = completion.limit.sent
    marks = citations(completion, answer)
    is_cut = completion.limit.ended == "length"
    used = usage_of(answer)
    usage = {
        "input_tokens": used["prompt_tokens"],
        "input_tokens_details": {"cached_tokens": answer.trace.tokens_cached},
        "output_tokens": used["completion_tokens"],
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": used["total_tokens"],
    }
    part = {"type": "output_text", "text": text, "annotations": marks, "logprobs": []}
    return {
        **begun(completion),
        "status": "incomplete" if is_cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "output": [message(completion, [part], "incomplete" if is_cut else "completed")],
        "usage": usage,
    }


def begun(completion: Completion) -> dict[str, Any]:
    """Return the response as it is before there is any text."""
    return {
        "id": completion.stamp["id"].replace("chatcmpl-", "resp_"),
        "object": "response",
        "created_at": completion.stamp["created"],
        "status": "in_progress",
        "model": completion.stamp["model"],
        "output": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": completion.request.metadata,
        "parallel_tool_calls": False,
        "previous_response_id": None,
        "store": False,
        "text": {"format": {"type": "text"}},
        "tool_choice": "none",
        "tools": [],
        "usage": None,
    }


def message(completion: Completion, parts: list[dict[str, Any]], status: str) -> dict[str, Any]:
    identity = completion.stamp["id"].replace("chatcmpl-", "msg_")
    return {
        "type": "message",
        "id": identity,
        "role": "assistant",
        "status": status,
        "content": parts,
    }


def citations(completion: Completion, answer: Answer) -> list[dict[str, Any]]:
    marks = annotations(completion.limit.sent, answer, completion.question.asker, completion.base)
    return [{"type": "url_citation", **mark["url_citation"]} for mark in marks]


async def response_events(
    completion: Completion, queue: "asyncio.Queue[tuple[str, Any]]"
) -> AsyncGenerator[str, None]:
    """Write the events of a streamed response, numbered from 0."""
    number = 0
    item = message(completion, [], "in_progress")
    place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    empty = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}

    def event(kind: str, content: Mapping[str, Any]) -> str:
        nonlocal number
        data = {"type": kind, "sequence_number": number, **content}
        number += 1
        return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"

    def delta(text: str) -> str:
        return event("response.output_text.delta", {**place, "delta": text, "logprobs": []})

    for kind in ("response.created", "response.in_progress"):
        yield event(kind, {"response": begun(completion)})
    yield event("response.output_item.added", {"output_index": 0, "item": item})
    yield event("response.content_part.added", {**place, "part": empty})
    async for step, content in text_steps(completion, queue):
        if step == "waiting":
            yield content
        elif step == "text":
            yield delta(content)
        elif step == "failed":
            error = error_json(content)[1]["error"]
            failed = {"code": error["code"] or "server_error", "message": error["message"]}
            response = {**begun(completion), "status": "failed", "error": failed}
            yield event("response.failed", {"response": response})
        else:
            rest, answer = content
            if rest:
                yield delta(rest)
            response = whole(completion, answer)
            (finished,) = response["output"]
            (part,) = finished["content"]
            for index, mark in enumerate(part["annotations"]):
                added = {**place, "annotation_index": index, "annotation": mark}
                yield event("response.output_text.annotation.added", added)
            text = {**place, "text": part["text"], "logprobs": []}
            yield event("response.output_text.done", text)
            yield event("response.content_part.done", {**place, "part": part})
            yield event("response.output_item.done", {"output_index": 0, "item": finished})
            yield event(f"response.{response['status']}", {"response": response})
