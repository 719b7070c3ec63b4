"""Names of Flux's models, by which clients ask for ours."""

from earshot.service.request.model_names import KnownNames

FLUXES = KnownNames("Deepgram", ("flux-general-en", "flux-general-multi"))
"""For /v2/listen."""
