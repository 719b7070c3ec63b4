"""A body that is a multipart form: its file goes to disk as it comes, its fields are kept."""

from typing import TYPE_CHECKING, BinaryIO

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from earshot.service.errors import BadRequest

OTHER_FIELDS = 200
"""Besides phrases to boost, of which the operator says how many a request may have."""

MAX_FIELD_BYTES = 64 * 1024
MAX_FIELDS_BYTES = 1 << 20
"""Of all values together, but for the file."""

FILE = "file"

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks


class FormBody:
    """Takes a form in pieces. fields: names and values of all parts but the file, in their order.

    Raises BadRequest where what comes is no form, or has more fields than may be.
    """

    def __init__(self, content_type: str, file: BinaryIO, max_fields: int) -> None:
        kind, options = parse_options_header(content_type)
        boundary = options.get(b"boundary")
        if kind != b"multipart/form-data" or not boundary:
            raise BadRequest(
                "the body must be a form: multipart/form-data with a boundary, as curl -F sends it"
            )
        self.fields: list[tuple[str, str]] = []
        self.has_file = False
        self._file = file
        self._max_fields = max_fields
        self._num_bytes = 0
        self._is_over = False
        self._headers: dict[bytes, bytes] = {}
        self._header, self._header_value = bytearray(), bytearray()
        self._name = ""
        self._value = bytearray()
        self._parser = self._made(boundary)

    def take(self, chunk: bytes) -> None:
        """Take the next piece of the body."""
        try:
            self._parser.write(chunk)
        except FormParserError as error:
            raise BadRequest(f"the body is no form: {error}") from error

    def end(self) -> None:
        """The body is over. Raises BadRequest where the form is not, or has no file."""
        if not self._is_over:
            raise BadRequest("the body ends before the form does")
        if not self.has_file:
            raise BadRequest(f"the form has no field {FILE!r} with the audio")

    def _made(self, boundary: bytes) -> MultipartParser:
        callbacks: MultipartCallbacks = {
            "on_part_begin": self._begin_part,
            "on_header_field": self._of_header_name,
            "on_header_value": self._of_header_value,
            "on_header_end": self._end_header,
            "on_headers_finished": self._begin_value,
            "on_part_data": self._of_value,
            "on_part_end": self._end_part,
            "on_end": self._end_form,
        }
        try:
            return MultipartParser(boundary, callbacks)
        except FormParserError as error:
            raise BadRequest(f"the body is no form: {error}") from error

    def _begin_part(self) -> None:
        self._headers, self._name = {}, ""
        self._value.clear()

    def _of_header_name(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _of_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _end_header(self) -> None:
        self._headers[bytes(self._header).lower()] = bytes(self._header_value)
        self._header.clear()
        self._header_value.clear()

    def _begin_value(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition"))
        self._name = _text(options.get(b"name", b""), "the name of a field")
        if self._name != FILE:
            if len(self.fields) == self._max_fields:
                raise BadRequest(f"the form has more than {self._max_fields} fields")
        elif self.has_file:
            raise BadRequest(f"the form has several fields {FILE!r}")
        else:
            self.has_file = True

    def _of_value(self, data: bytes, start: int, end: int) -> None:
        if self._name == FILE:
            self._file.write(data[start:end])
            return
        self._value += data[start:end]
        self._num_bytes += end - start
        if len(self._value) > MAX_FIELD_BYTES:
            raise BadRequest(f"{self._name}: more than {MAX_FIELD_BYTES} bytes")
        if self._num_bytes > MAX_FIELDS_BYTES:
            raise BadRequest(f"the fields of the form have more than {MAX_FIELDS_BYTES} bytes")

    def _end_part(self) -> None:
        if self._name != FILE:
            self.fields.append((self._name, _text(bytes(self._value), self._name)))

    def _end_form(self) -> None:
        self._is_over = True


def _text(value: bytes, what: str) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise BadRequest(f"{what} is not UTF-8") from error
