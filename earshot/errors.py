"""The base of everything that Earshot raises on purpose.

EarshotError
├── ServiceError      earshot.service.errors: files, settings, what a request asks for
├── StreamingError    earshot.streaming.errors: engines and their streams
├── TrainingError     earshot.training.errors
├── LanguageError     earshot.language.errors: text that has no reading
├── ModelError        earshot.models.errors: checkpoints, tokenizers, configs
└── KernelError       earshot.decoder_kernels.errors: searches, graphs, devices
"""


class EarshotError(Exception):
    """Base of every error that is not a defect of Earshot; the message says what to mend."""
