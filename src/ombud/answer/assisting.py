"""What the documents say, for an advisor who answers an employee."""

from ombud.answer.asking import AskRun
from ombud.answer.clarify import NOWHERE
from ombud.answer.triage import TriageResult


class AdvisorRun(AskRun):
    """The ask flow for somebody who helps already: nothing is handed over, however grave. What a
    sensitive message keeps from remote models stays kept."""

    def _triaged(self) -> TriageResult:
        triaged = super()._triaged()
        return triaged._replace(label="ordinary", matter=None, injected=False)

    async def search(self) -> None:
        """An advisor is asked nothing back of where they work."""
        await super().search()
        self.elsewhere = NOWHERE
