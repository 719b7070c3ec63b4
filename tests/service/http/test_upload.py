"""How slowly a body may come, and where there is no room for it."""

import errno
import io
import tempfile

import pytest

from earshot.service.errors import StorageFull
from earshot.service.http import upload
from earshot.service.http.upload import LEAST_BYTES_PER_S, temporary_file, trickles
from earshot.service.outcomes import outcome_of


@pytest.mark.parametrize(
    ("count", "elapsed_s", "expected"),
    [
        (1, 29.0, False),  # it has its time to stall
        (1, 31.0, True),
        (LEAST_BYTES_PER_S * 100, 120.0, False),
        (LEAST_BYTES_PER_S * 80, 120.0, True),
    ],
)
def test_a_body_that_trickles_is_told_from_one_that_is_slow(count, elapsed_s, expected):
    assert trickles(count, elapsed_s, timeout_s=30.0) == expected


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("when", ["while it is written", "when it is closed"])
def test_a_full_disk_is_no_fault_of_the_server(monkeypatch, when, code):
    class Full(io.BytesIO):
        def fileno(self):
            return 0

        def write(self, data):
            raise OSError(code, "there is no room")

        def writelines(self, pieces):
            for piece in pieces:
                self.write(piece)

        def close(self):
            self.write(b"the rest")

    full = Full()
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: full)
    data = [b"x"] if when == "while it is written" else []
    with pytest.raises(StorageFull) as caught, temporary_file() as (_, file):
        file.writelines(data)
    assert caught.value.retry_after_s > 0
    assert outcome_of(caught.value).http_status == 507


def test_another_fault_of_the_disk_is_not_called_full(monkeypatch):
    def broken(**_):
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(tempfile, "TemporaryFile", broken)
    with pytest.raises(PermissionError), temporary_file():
        pass


def test_a_file_has_no_name_that_a_killed_server_would_leave(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with temporary_file() as (path, file):
        file.write(b"audio")
        file.flush()
        assert path.read_bytes() == b"audio"
        assert list(tmp_path.iterdir()) == []


def test_where_no_system_opens_it_again_the_file_has_a_name_while_it_is_needed(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(upload, "_OPEN_FILES", tmp_path / "no-proc")
    with temporary_file() as (path, file):
        file.write(b"audio")
        file.flush()
        assert path.read_bytes() == b"audio"
    assert list(tmp_path.iterdir()) == []
