"""What can be wrong with PTX, or beyond us."""


class TranslationError(Exception):
    """A place in a PTX file that cannot be translated."""

    def __init__(self, message: str, line: int, file: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.file = file

    def __str__(self) -> str:
        return f"{self.file or 'PTX'}:{self.line}: {self.message}"


class MalformedPtx(TranslationError):
    """Not PTX, as far as we know the language."""


class UnknownInstruction(TranslationError):
    """PTX, but nothing that our kernels have needed so far."""


class UnknownSymbol(TranslationError):
    """A name that nothing in the file declares."""
