"""From what happens in a conversation of Salesforce to what a desk tells."""

from collections.abc import Callable, Mapping
from typing import Any

from ombud.handoff.desks.desk import DeskEvent, DeskLink
from ombud.handoff.desks.salesforce.service import ConversationEntry

ADVISORS = {"Agent", "Supervisor"}
WAITING_WORK = {"Declined", "Cancelled"}
"""What advisors do with work that then waits for the next of them."""

Told = list[DeskEvent]


def read_entry(name: str, entry: ConversationEntry) -> Told:
    """What an event of the stream tells; nothing for names that are not known."""
    reader = STREAMED.get(name)
    return reader(entry) if reader else []


def read_listed(entry: ConversationEntry) -> Told:
    """The same of an entry of the listing."""
    return read_entry(LISTED.get(entry.entryType, ""), entry)


def spoken(payload: Mapping[str, Any]) -> str:
    """The words of a message; of one that gives a choice, the question and what can be chosen."""
    message = _part(payload, "abstractMessage")
    words = _text(_part(message, "staticContent"), "text")
    if words:
        return words
    choices = _part(message, "choices")
    answer = _part(message, "choicesResponse")
    lines = [_text(choices, "text"), _text(answer, "selectedOptions") or _text(answer, "text")]
    options = choices.get("optionItems")
    for option in options if isinstance(options, list) else []:
        title = _text(_part(option, "titleItem"), "title") if isinstance(option, dict) else ""
        lines.append(f"- {title}" if title else "")
    return "\n".join(line for line in lines if line)


def shared(payload: Mapping[str, Any]) -> tuple[DeskLink, ...]:
    """Files and the page of a message that is more than text."""
    content = _part(_part(payload, "abstractMessage"), "staticContent")
    attachments = content.get("attachments")
    links: list[DeskLink] = []
    for attachment in attachments if isinstance(attachments, list) else []:
        if isinstance(attachment, dict):
            link = DeskLink(name=_text(attachment, "name"), url=_text(attachment, "url"))
            links.append(link)
    page = _part(content, "linkItem")
    if page:
        title = _text(_part(page, "titleItem"), "title")
        links.append(DeskLink(kind="link", name=title, url=_text(page, "url")))
    return tuple(links)


def _message(entry: ConversationEntry) -> Told:
    if entry.sender.role == "EndUser":
        return [DeskEvent(kind="echo", entry_id=entry.identifier)]
    text = spoken(entry.entryPayload)
    links = shared(entry.entryPayload)
    if not text and not links:
        if not _part(entry.entryPayload, "abstractMessage"):
            return []
        links = (DeskLink(kind="other"),)
    is_automatic = bool(_text(entry.entryPayload, "messageReason"))
    is_advisor = entry.sender.role in ADVISORS and not is_automatic
    name = entry.senderDisplayName or ""
    kind = "message" if is_advisor else "notice"
    event = DeskEvent(kind=kind, entry_id=entry.identifier, text=text, name=name, links=links)
    return [event]


def _participants(entry: ConversationEntry) -> Told:
    told: Told = []
    changes = entry.entryPayload.get("entries")
    for place, change in enumerate(changes if isinstance(changes, list) else []):
        if not isinstance(change, dict):
            continue
        if _text(_part(change, "participant"), "role") not in ADVISORS:
            continue
        kind = {"add": "joined", "remove": "left"}.get(_text(change, "operation"))
        if kind:
            name = _text(change, "displayName") or entry.senderDisplayName or ""
            entry_id = f"{entry.identifier}/{place}"
            told.append(
                DeskEvent.model_validate({"kind": kind, "entry_id": entry_id, "name": name})
            )
    return told


def _routing(entry: ConversationEntry) -> Told:
    failed = _text(entry.entryPayload, "failureType")
    if failed and failed != "None":
        why = _text(entry.entryPayload, "failureReason") or failed
        return [DeskEvent(kind="failed", entry_id=entry.identifier, text=why)]
    expected = _part(entry.entryPayload, "estimatedWaitTime")
    seconds = expected.get("estimatedWaitTimeInSeconds")
    if expected.get("isEWTRequested") is True and isinstance(seconds, int | float) and seconds >= 0:
        return [DeskEvent(kind="position", seconds=float(seconds))]
    return []


def _work(entry: ConversationEntry) -> Told:
    if _text(entry.entryPayload, "workType") in WAITING_WORK:
        return [DeskEvent(kind="waiting")]
    return []


def _position(entry: ConversationEntry) -> Told:
    position = entry.entryPayload.get("position")
    if isinstance(position, int) and position >= 1:
        return [DeskEvent(kind="position", position=position)]
    return [DeskEvent(kind="waiting")]


def _session(entry: ConversationEntry) -> Told:
    status = _text(entry.entryPayload, "sessionStatus")
    if status == "Ended":
        return [DeskEvent(kind="ended", entry_id=entry.identifier)]
    if status == "Error":
        return [DeskEvent(kind="failed", entry_id=entry.identifier, text=status)]
    return [DeskEvent(kind="waiting")] if status == "Waiting" else []


def _closed(entry: ConversationEntry) -> Told:
    """The employee's own side has closed it."""
    return [DeskEvent(kind="ended", entry_id=entry.identifier)]


def _types(entry: ConversationEntry) -> Told:
    return _typing(entry, is_typing=True)


def _types_no_more(entry: ConversationEntry) -> Told:
    return _typing(entry, is_typing=False)


def _typing(entry: ConversationEntry, *, is_typing: bool) -> Told:
    if entry.sender.role not in ADVISORS:
        return []
    return [DeskEvent(kind="typing", name=entry.senderDisplayName or "", is_typing=is_typing)]


def _has_read(entry: ConversationEntry) -> Told:
    read = _text(entry.entryPayload, "acknowledgedConversationEntryIdentifier")
    return [DeskEvent(kind="read", entry_id=read)] if read else []


def _part(payload: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = payload.get(key)
    return value if isinstance(value, dict) else {}


def _text(payload: Mapping[str, Any], key: str) -> str:
    """Empty where nothing, or no text, stands there."""
    value = payload.get(key)
    return value.strip() if isinstance(value, str) else ""


STREAMED: Mapping[str, Callable[[ConversationEntry], Told]] = {
    "CONVERSATION_MESSAGE": _message,
    "CONVERSATION_PARTICIPANT_CHANGED": _participants,
    "CONVERSATION_ROUTING_RESULT": _routing,
    "CONVERSATION_ROUTING_WORK_RESULT": _work,
    "CONVERSATION_QUEUE_POSITION": _position,
    "CONVERSATION_SESSION_STATUS_CHANGED": _session,
    "CONVERSATION_TYPING_STARTED_INDICATOR": _types,
    "CONVERSATION_TYPING_STOPPED_INDICATOR": _types_no_more,
    "CONVERSATION_READ_ACKNOWLEDGEMENT": _has_read,
    "CONVERSATION_CLOSE_CONVERSATION": _closed,
}
"""Event of the stream -> what it tells. Others are passed over, such as
CONVERSATION_DELIVERY_ACKNOWLEDGEMENT: that a message stands there, its own echo tells."""
LISTED: Mapping[str, str] = {
    "Message": "CONVERSATION_MESSAGE",
    "ParticipantChanged": "CONVERSATION_PARTICIPANT_CHANGED",
    "RoutingResult": "CONVERSATION_ROUTING_RESULT",
}
"""Type of an entry that a listing holds -> the event that the stream has for it."""
