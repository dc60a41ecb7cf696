"""ServiceNow cases by the Table API.

https://www.servicenow.com/docs/r/api-reference/rest-apis/c_TableAPI.html. A case keeps the
handoff's id as `correlation_id`. Entries of a journal have no field of ours, so the last line of
each comment names its message; only comments of the account that made the case count as ours.
"""

from collections.abc import Mapping

from pydantic import BaseModel

from ombud.errors import NotFound
from ombud.handoff.desks.wire import NoReply
from ombud.handoff.tickets.client import TicketClient
from ombud.handoff.tickets.system import NewTicket, RemoteTicket, TicketComment, TicketState
from ombud.settings import TicketSettings

CASE_TABLE = "sn_hr_core_case"
MARK = "(ombud "
CASE_FIELDS = "sys_id,number,active,sys_created_by"


class CaseRow(BaseModel):
    sys_id: str
    number: str = ""
    active: str = "true"
    sys_created_by: str = ""


class OneCase(BaseModel):
    result: CaseRow


class CaseRows(BaseModel):
    result: list[CaseRow]


class JournalEntry(BaseModel):
    sys_id: str
    value: str = ""
    sys_created_on: str = ""
    sys_created_by: str = ""


class Journal(BaseModel):
    result: list[JournalEntry]


class ServiceNow:
    """Cases in one table of an instance."""

    def __init__(self, settings: TicketSettings) -> None:
        self._client = TicketClient(settings, "ServiceNow", "/oauth_token.do")
        self._table = settings.queue or CASE_TABLE
        self._path = f"/api/now/table/{self._table}"
        self._fields = settings.fields
        portal = f"{self._client.url}/esc?id=hrm_ticket_page&table={self._table}&sys_id={{id}}"
        self._link = settings.link or portal
        # A journal field takes 4,000 characters, the mark included.
        self.longest_comment = 3900

    async def find(self, handoff_id: str) -> RemoteTicket | None:
        query = {
            "sysparm_query": f"correlation_id={handoff_id}^ORDERBYsys_created_on",
            "sysparm_fields": CASE_FIELDS,
            "sysparm_limit": "1",
        }
        cases = await self._client.ask("GET", self._path, CaseRows, query=query)
        return self._remote(cases.result[0]) if cases.result else None

    async def create(self, new: NewTicket) -> RemoteTicket:
        body = {
            "correlation_id": new.id,
            "correlation_display": "ombud",
            "short_description": new.subject,
            "description": new.description,
            **self._fields,
        }
        query = {"sysparm_fields": CASE_FIELDS}
        case = await self._client.ask("POST", self._path, OneCase, body=body, query=query)
        return self._remote(case.result)

    async def comment(self, ticket_id: str, message_id: str, text: str) -> None:
        body = {"comments": f"{text}\n\n{MARK}{message_id})"}
        await self._client.ask("PATCH", f"{self._path}/{ticket_id}", NoReply, body=body)

    async def read(self, ticket_id: str) -> TicketState:
        query = {"sysparm_fields": CASE_FIELDS}
        path = f"{self._path}/{ticket_id}"
        case = (await self._client.ask("GET", path, OneCase, query=query)).result
        entries = await self._journal(ticket_id)
        comments = [as_comment(entry, case.sys_created_by) for entry in entries]
        return TicketState(is_closed=case.active == "false", comments=tuple(comments))

    async def check(self) -> str:
        query = {"sysparm_limit": "1", "sysparm_fields": "sys_id"}
        await self._client.ask("GET", self._path, CaseRows, query=query)
        return f"ServiceNow at {self._client.url}, table {self._table}"

    @staticmethod
    def announced_ticket(headers: Mapping[str, str], body: bytes, key: bytes) -> str:
        raise NotFound("ServiceNow sends no signed webhooks; its tickets are polled.")

    async def close(self) -> None:
        await self._client.close()

    def _remote(self, case: CaseRow) -> RemoteTicket:
        url = self._link.format(id=case.sys_id, number=case.number)
        return RemoteTicket(id=case.sys_id, number=case.number, url=url)

    async def _journal(self, ticket_id: str) -> list[JournalEntry]:
        """List all comments in order; `work_notes` are another element of the journal."""
        size = 100
        entries: dict[str, JournalEntry] = {}
        while True:
            query = {
                "sysparm_query": f"element_id={ticket_id}^element=comments^ORDERBYsys_created_on",
                "sysparm_limit": str(size),
                "sysparm_offset": str(len(entries)),
            }
            path = "/api/now/table/sys_journal_field"
            page = await self._client.ask("GET", path, Journal, query=query)
            entries |= {entry.sys_id: entry for entry in page.result}
            if len(page.result) < size:
                return sorted(entries.values(), key=lambda entry: entry.sys_created_on)


def as_comment(entry: JournalEntry, our_account: str) -> TicketComment:
    text, _, mark = entry.value.rpartition("\n\n")
    is_ours = entry.sys_created_by == our_account and mark.startswith(MARK) and mark.endswith(")")
    if is_ours:
        message_id = mark.removeprefix(MARK).removesuffix(")")
        return TicketComment(id=entry.sys_id, text=text, message_id=message_id)
    return TicketComment(id=entry.sys_id, text=entry.value, author=entry.sys_created_by)
