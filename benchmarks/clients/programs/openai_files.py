"""OpenAI's SDK for Python: a file, a file with events, and what is refused."""

from openai import APIStatusError, OpenAI
from seen import UNKNOWN, Seen, arguments


def main() -> None:
    """Say what was seen: deltas of a file's events are its partials."""
    address, file = arguments()
    client, seen = OpenAI(base_url=f"http://{address}/v1", api_key="any"), Seen()
    answer = client.audio.transcriptions.create(model="whisper-1", file=file)
    seen.files.append(answer.text)
    for event in client.audio.transcriptions.create(
        model="gpt-4o-transcribe", file=file, stream=True
    ):
        if event.type == "transcript.text.delta":
            seen.hear(event.delta, is_final=False)
        elif event.type == "transcript.text.done":
            seen.hear(event.text, is_final=True)
    for model, body in ((UNKNOWN, file.read_bytes()), ("whisper-1", b"garbage")):
        try:
            client.audio.transcriptions.create(model=model, file=("talk.wav", body))
        except APIStatusError as error:
            seen.fail(f"{type(error).__name__} {error.status_code}", error.message)
    seen.show()


if __name__ == "__main__":
    main()
