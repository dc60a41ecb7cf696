"""Results of the MCP tools; models read the field names and descriptions."""

from pydantic import BaseModel, Field


class CitedSentence(BaseModel):
    number: int = Field(description="As in the text: [1] is the first.")
    title: str
    uri: str
    quote: str = Field(description="Letter by letter as it stands in the document.")
    document_id: str
    page: int | None = None
    links: list[str] = Field(default=[], description="Addresses that the sentence links to.")


class PolicyAnswer(BaseModel):
    text: str = Field(description="Markdown; each sentence ends with the numbers of its citations.")
    outcome: str = Field(description="full, partial, or denied where the documents do not say it.")
    action: str = Field(
        description="none, clarify (ask back), contact or handoff (somebody should help)."
    )
    citations: list[CitedSentence]
    contacts: list[str] = Field(description="Whom the person can turn to.")
    suggestions: list[str] = Field(description="What could be asked instead.")


class PolicyPassage(BaseModel):
    document_id: str
    title: str
    uri: str
    headings: list[str] = Field(description="Above the passage, outermost first.")
    text: str
    score: float
    in_force_from: str = ""
    in_force_to: str = ""


class PolicyPassages(BaseModel):
    passages: list[PolicyPassage] = Field(description="Best first.")


class PolicyText(BaseModel):
    document_id: str
    title: str
    uri: str
    text: str = Field(description="One part of the document.")
    part: int
    parts: int
    countries: list[str] = Field(description="For which it is in force; empty = everywhere.")
    in_force_from: str = ""
    in_force_to: str = ""
