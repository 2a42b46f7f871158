"""A part of the settings: named in camelCase, strict, and never changed."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Section(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, defer_build=True, allow_inf_nan=False
    )
