"""Names of OpenAI's models, by which clients ask for ours."""

from earshot.service.request.model_names import KnownNames

OPENAIS = KnownNames(
    "OpenAI",
    (
        "whisper-1", "gpt-transcribe", "gpt-4o-transcribe", "gpt-4o-mini-transcribe",
        "gpt-4o-mini-transcribe-2025-12-15",
    ),
)  # fmt: skip
"""Of its documentation and SDKs, but for those that tell speakers apart."""
