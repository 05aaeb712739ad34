"""What models give to tools: strict about kinds, and nothing that is not known."""

from pydantic import BaseModel, ConfigDict


class Given(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)
