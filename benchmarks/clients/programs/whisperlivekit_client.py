"""WhisperLiveKit's own test client, of its file alone: its package would load a server's torch."""

import asyncio
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from seen import Seen, arguments
from websockets.exceptions import InvalidStatus


def own_client() -> ModuleType:
    """The module of the test client, without the package that it is in."""
    package = importlib.util.find_spec("whisperlivekit")
    if package is None or package.origin is None:
        raise ImportError("whisperlivekit is not installed")
    file = Path(package.origin).with_name("test_client.py")
    spec = importlib.util.spec_from_file_location("test_client", file)
    if spec is None or spec.loader is None:
        raise ImportError(str(file))
    module = importlib.util.module_from_spec(spec)
    sys.modules["test_client"] = module  # its dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


async def main() -> None:
    """Say what was seen: a line's text is final, the text under way is not."""
    address, file = arguments()
    client, seen = own_client(), Seen()

    def hear(told: dict[str, Any]) -> None:
        seen.hear(told.get("buffer_transcription", ""), is_final=False)

    url = f"ws://{address}/asr"
    result = await client.transcribe_audio(str(file), url=url, on_response=hear)
    seen.hear(result.committed_text, is_final=True)
    try:
        await client.transcribe_audio(str(file), url=f"{url}?language=xx", speed=0)
    except InvalidStatus as error:
        seen.fail(type(error).__name__, error)
    seen.show()


if __name__ == "__main__":
    asyncio.run(main())
