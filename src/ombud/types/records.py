"""What all records share: frozen, JSON round-trippable, no unknown fields."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
