"""What a request asks for and does not get, or gets otherwise: told in whichever protocol."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

WarningType = Literal[
    "unboostable_phrase",
    "unspellable_member",
    "unsupported_parameter",
    "unsupported_language",
    "changed_value",
    "failed_channel",
    "second_pass_failed",
]


class RequestWarning(BaseModel):
    """Something is done less well than asked, or not.

    parameter: which asks for it. phrase: the boosted phrase or the member of a class, if it is
    about one.
    """

    model_config = ConfigDict(frozen=True)

    parameter: str
    type: WarningType
    message: str
    phrase: str | None = None
