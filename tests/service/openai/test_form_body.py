"""Multipart forms: what is read of good ones, however they are cut, and what others lack."""

import io
from contextlib import suppress

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earshot.service.errors import BadRequest
from earshot.service.openai.form_body import MAX_FIELD_BYTES, MAX_FIELDS_BYTES, FormBody

MOST = 300


def written(fields: dict[str, str | list[str]], audio: bytes | None = b"") -> tuple[str, bytes]:
    """The content type and the body, as a client's library writes them."""
    files = {} if audio is None else {"file": ("a.wav", audio, "audio/wav")}
    request = httpx.Request("POST", "http://here", data=fields, files=files or {"x": ("", b"")})
    return request.headers["content-type"], request.read()


def read(
    content_type: str, body: bytes, cuts: list[int] | None = None
) -> tuple[list[tuple[str, str]], bytes]:
    file = io.BytesIO()
    form = FormBody(content_type, file, MOST)
    places = sorted({min(cut, len(body)) for cut in cuts or []})
    for start, stop in zip([0, *places], [*places, len(body)], strict=True):
        form.take(body[start:stop])
    form.end()
    return form.fields, file.getvalue()


@given(
    fields=st.dictionaries(st.text("abcdé[]", min_size=1), st.text(max_size=50), max_size=5),
    audio=st.binary(max_size=2000),
    cuts=st.lists(st.integers(0, 3000), max_size=8),
)
def test_a_form_is_what_was_written_however_it_is_cut(
    fields: dict[str, str], audio: bytes, cuts: list[int]
) -> None:
    assert read(*written(dict(fields), audio), cuts) == (list(fields.items()), audio)


def test_a_name_may_come_several_times() -> None:
    found, _ = read(*written({"keywords[]": ["iced tea", "latte"], "model": "whisper-1"}))
    assert found == [("keywords[]", "iced tea"), ("keywords[]", "latte"), ("model", "whisper-1")]


@pytest.mark.parametrize(
    "content_type",
    ["", "audio/wav", "application/json", "multipart/form-data", "multipart/form-data; boundary="],
)
def test_what_is_no_form_is_refused_by_its_header(content_type: str) -> None:
    with pytest.raises(BadRequest, match="must be a form"):
        FormBody(content_type, io.BytesIO(), MOST)


def test_a_boundary_beyond_all_measure_is_refused() -> None:
    with pytest.raises(BadRequest, match="the body is no form: "):
        FormBody(f"multipart/form-data; boundary={'x' * 1000}", io.BytesIO(), MOST)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"RIFF....", "the body is no form: "),
        (b"", "ends before the form does"),
        (b"--x\r\ncontent-disposition: form-data; name=file\r\n\r\nabc", "ends before"),
        (b"--x\r\ncontent-disposition: form-data; name=\xff\r\n\r\n\r\n--x--\r\n", "not UTF-8"),
        (b"--x\r\ncontent-disposition: form-data; name=a\r\n\r\n\xff\r\n--x--\r\n", "a is not UTF"),
        (b"--x\r\ncontent-disposition: form-data; name=a\r\n\r\nb\r\n--x--\r\n", "no field 'file'"),
        (b"--x\r\nx: y\r\n\r\nb\r\n--x--\r\n", "no field 'file'"),
    ],
)
def test_a_damaged_form_is_refused_by_name(body: bytes, told: str) -> None:
    with pytest.raises(BadRequest, match=told):
        read("multipart/form-data; boundary=x", body)


@given(
    content=st.binary(max_size=300),
    cut=st.integers(0, 300),
)
def test_whatever_comes_is_a_form_or_refused(content: bytes, cut: int) -> None:
    _, good = written({"model": "m"}, b"sound")
    for body in (content, good[:cut] + content, good[:cut] + content + good[cut:]):
        with suppress(BadRequest):
            read("multipart/form-data; boundary=x", body)


def test_fields_without_end_are_refused() -> None:
    with pytest.raises(BadRequest, match=f"more than {MOST} fields"):
        read(*written({"a": ["b"] * (MOST + 1)}))
    with pytest.raises(BadRequest, match=f"have more than {MAX_FIELDS_BYTES} bytes"):
        read(*written({"a": ["b" * MAX_FIELD_BYTES] * 17}))
    with pytest.raises(BadRequest, match=f"^long: more than {MAX_FIELD_BYTES} bytes"):
        read(*written({"long": "a" * (MAX_FIELD_BYTES + 1)}))


def test_headers_without_end_are_refused() -> None:
    for headers in (b"a: b\r\n" * 100, b"a: " + b"b" * 100_000):
        with pytest.raises(BadRequest, match="the body is no form: "):
            read("multipart/form-data; boundary=x", b"--x\r\n" + headers)


def test_two_files_are_refused() -> None:
    one = b'--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nabc\r\n'
    with pytest.raises(BadRequest, match="several fields 'file'"):
        read("multipart/form-data; boundary=x", one + one + b"--x--\r\n")
