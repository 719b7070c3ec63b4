import json
import logging

from earshot.service.http.request_log import configure_logging, log
from earshot.streaming.stream_name import NAMELESS, StreamName


def test_every_line_is_json_of_ours_and_of_libraries(capsys):
    configure_logging("info")
    log.info("session_opened", request_id="r")
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["event"] for line in lines] == ["session_opened", "Invalid HTTP request received."]
    assert lines[0]["request_id"] == "r"
    assert all(line["timestamp"] and line["level"] for line in lines)


def test_tracebacks_stay_on_their_line(capsys):
    configure_logging("info")
    try:
        raise ValueError("why")
    except ValueError:
        logging.getLogger("streaming").exception("a stream failed")
    (line,) = capsys.readouterr().err.splitlines()
    assert "ValueError: why" in json.loads(line)["exception"]


def test_levels_hold(capsys):
    configure_logging("warning")
    log.info("hidden")
    log.warning("shown")
    logging.getLogger("uvicorn.error").info("hidden")
    assert [json.loads(line)["event"] for line in capsys.readouterr().err.splitlines()] == ["shown"]


def test_a_refused_socket_is_no_error_of_the_server(capsys):
    configure_logging("info")
    logging.getLogger("uvicorn.error").error("ASGI callable returned without completing handshake.")
    logging.getLogger("uvicorn.error").error("something is wrong")
    assert [json.loads(line)["event"] for line in capsys.readouterr().err.splitlines()] == [
        "something is wrong"
    ]


def test_lines_of_the_engine_name_the_stream_that_they_are_about(capsys):
    configure_logging("info")
    logging.getLogger("earshot.streaming").error("it failed", extra=StreamName("r", 1).fields)
    logging.getLogger("earshot.streaming").error("it failed", extra=NAMELESS.fields)
    named, nameless = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert (named["request_id"], named["channel"]) == ("r", 1)
    assert "request_id" not in nameless
