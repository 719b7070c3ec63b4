"""Settings of the server: flags, then environment (EARSHOT_*), then a TOML file, then defaults."""

import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from earshot.models.native.precision import PrecisionChoice
from earshot.service.errors import StartupError
from earshot.service.part_settings import PART_FILES, PART_OPTIONS, PartSettings
from earshot.streaming.transducer.options import MOST_BEAM, USUAL_BEAM, LoopChoice

ENV_PREFIX = "EARSHOT_"
CONFIG_ENV = f"{ENV_PREFIX}CONFIG"

_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/?#@]+", re.IGNORECASE)

STREAMS_PER_ENGINE = 50
"""What a core carries with room to spare (docs/benchmarks/live_streams.md)."""

Names = Annotated[tuple[str, ...], NoDecode]


class Settings(PartSettings):
    """Everything an operator may choose. A field's description is the help text of its flag.

    What there is to choose of a model's parts stands in their table (`streaming/parts`).
    """

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, extra="forbid", frozen=True, validate_default=True
    )

    config: Path | None = Field(None, description="TOML file with any of these settings")
    model: Path | None = Field(
        None, description="directory or file of a model; the bundled one if absent"
    )
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="where the model runs")

    lm_dir: Path | None = Field(
        None, description="folder of language models (NAME.lm) that requests may name"
    )
    precision: PrecisionChoice = Field(
        "auto", description="what linear layers multiply on a CPU; sums are float32"
    )

    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(8000, ge=0, le=65535, description="port to listen on; 0 picks a free one")
    wyoming_port: int | None = Field(
        None, ge=0, le=65535, description="port for Wyoming's clients (Home Assistant) as well"
    )
    allowed_origins: Names = Field(
        (), description="origins of pages, besides our own, that may connect; * for all"
    )

    chunk_size: int | None = Field(None, ge=1, le=4096, description="encoder frames per step")
    num_left_chunks: int | None = Field(
        None, ge=-1, le=4096, description="chunks of left context; -1 for all of the segment"
    )
    threads: int | None = Field(None, ge=1, le=1024, description="threads of each engine's model")
    engines: int | None = Field(
        None, ge=1, le=256, description="engines, each a process; as many as keep the cores busy"
    )
    max_batch: int = Field(16, ge=1, le=10_000, description="streams per step")
    max_wait_ms: float = Field(
        30.0, ge=0, le=10_000, description="how long a chunk waits for others"
    )
    beam_size: int = Field(10, ge=1, description="hypotheses kept by the prefix search")

    transducer_beam: int | None = Field(
        None,
        ge=1,
        le=MOST_BEAM,
        description=f"hypotheses of a transducer's beam search; {USUAL_BEAM} if absent",
    )
    transducer_loop: LoopChoice = Field(
        "auto", description="where and how a transducer is decoded greedily"
    )

    max_streams: int | None = Field(
        None,
        ge=1,
        le=10_000,
        description=f"live streams and files at once, then 429; {STREAMS_PER_ENGINE} an engine",
    )
    max_containers: int | None = Field(
        None, ge=0, le=10_000, description="sockets that may send containers; all if absent; 1013"
    )
    max_files: int = Field(
        4, ge=1, le=10_000, description="files transcribed at once; three times as many may wait"
    )
    max_backlog_s: float = Field(
        10.0,
        ge=2,
        le=3600,
        description="undecoded audio a stream may hold before its socket is not read",
    )
    idle_timeout_s: float = Field(
        10.0, gt=0, description="a socket without audio or KeepAlive is closed after this"
    )
    send_timeout_s: float = Field(
        20.0, gt=0, description="a client that reads nothing for so long is closed with 1008"
    )
    upload_timeout_s: float = Field(
        30.0, gt=0, description="a file upload that stalls so long is refused with 408"
    )
    header_timeout_s: float = Field(10.0, gt=0, description="time for a request's header")
    drain_s: float = Field(
        8.0, ge=0, description="after SIGTERM live streams may go on so long; then they are flushed"
    )
    max_message_bytes: int = Field(1 << 20, ge=1024, description="largest socket message; 1009")
    max_outbox_bytes: int = Field(
        1 << 20, ge=1024, description="unread results held for a slow client before 1008"
    )
    max_file_bytes: int = Field(512 << 20, ge=1024, description="largest uploaded file; 413")
    max_file_s: float = Field(4 * 3600.0, gt=0, description="longest audio in a file; 413")

    silence_ms: int | None = Field(
        None, ge=0, description="least pause that ends an utterance where a request names none"
    )
    eot_threshold: float = Field(
        0.75, ge=0.3, le=0.99, description="how likely a turn has to be over to end in less"
    )
    eot_timeout_ms: int = Field(
        1400, ge=500, le=60_000, description="pause that ends an utterance whatever was said"
    )
    boost_weight: float = Field(
        8.0, ge=-20, le=20, description="bonus of a keyterm given without a weight"
    )
    max_phrases: int = Field(1000, ge=0, description="boosted phrases per request")
    model_aliases: Names = Field(
        ("default", "general", "nova-2", "nova-2-general", "nova-3", "nova-3-general"),
        description="names besides the model's own that clients may ask for",
    )
    strict_models: bool = Field(
        False, description="refuse all other names of models, also those that Deepgram's SDKs know"
    )
    languages: Names = Field(
        (), description="languages that requests may ask for; those that the model names if absent"
    )

    debug: bool = Field(False, description="serve /debug/streams/ID: a stream's life, without text")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="logs")
    log_text: bool = Field(False, description="write recognised text to the log")

    @field_validator("allowed_origins", "model_aliases", "languages", mode="before")
    @classmethod
    def _split_commas(cls, value: object) -> object:
        """Lists come as "a,b" from the environment and flags, as arrays from TOML."""
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("allowed_origins")
    @classmethod
    def _check_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        """Reject malformed origins: they match nothing and would lock every page out."""
        for origin in origins:
            if origin not in ("*", "null") and not _ORIGIN.fullmatch(origin):
                raise ValueError(f"{origin!r} is no origin such as https://example.org, nor *")
        return origins

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order the sources; the file is named by the flag or by EARSHOT_CONFIG."""
        file = init_settings().get("config") or os.environ.get(CONFIG_ENV)
        if file is None:
            return init_settings, env_settings
        if not Path(file).is_file():
            raise StartupError(f"the settings file {file} does not exist")
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, Path(file))

    @classmethod
    def load(cls, **flags: object) -> Self:
        """Build the effective settings; flags that are None were not given.

        Raises:
            StartupError: a value is wrong or a name unknown; the message names it.
        """
        try:
            return cls(**{name: value for name, value in flags.items() if value is not None})  # type: ignore[arg-type]
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(str(part) for part in first["loc"])
            raise StartupError(f"setting {name}: {first['msg']}") from error
        except (SettingsError, ValueError) as error:
            raise StartupError(f"the settings cannot be read: {error}") from error

    def streams_of(self, engines: int) -> int:
        """How many streams so many engines take together: as asked, or what each carries."""
        return self.max_streams or STREAMS_PER_ENGINE * engines

    def check_model(self) -> None:
        """Find a name that is no path before anything large is loaded to read it.

        Raises StartupError.
        """
        with suppress(OSError):  # who may not look finds out when it is read
            if self.model is not None and not self.model.exists():
                raise StartupError(
                    f"--model {self.model}: there is no such file or folder; a model is a "
                    "checkpoint's, and none is fetched by its name"
                )

    def as_toml(self) -> str:
        """Write the effective settings as a TOML file that can be read back."""
        values = self.model_dump(mode="json")
        return "\n".join(_toml_line(name, values[name]) for name in setting_names())

    @property
    def of_parts(self) -> dict[str, object]:
        """How the model's parts are used, by setting."""
        return {name: getattr(self, name) for name in PART_OPTIONS}


def setting_names() -> tuple[str, ...]:
    """All settings, in the order in which people read them."""
    parts = {"model": PART_FILES, "beam_size": PART_OPTIONS}
    names = [name for name in Settings.model_fields if name not in (*PART_FILES, *PART_OPTIONS)]
    return tuple(each for name in names for each in (name, *parts.get(name, ())))


def _toml_line(name: str, value: object) -> str:
    # JSON's strings, numbers, booleans and arrays are TOML too; TOML has no null.
    return f"# {name} =" if value is None else f"{name} = {json.dumps(value)}"
