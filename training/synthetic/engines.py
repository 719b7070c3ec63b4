"""Debian's speech synthesisers, each as a program that writes a WAV file to its standard output."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass

from earshot.training.synthetic.errors import BadRecording, EngineMissing

MOST_SECONDS = 120.0  # of one call; an engine that hangs must not hold the rest
# fmt: off
ESPEAK_ACCENTS = (
    "en-us", "en-us-nyc", "en-gb", "en-gb-x-rp", "en-gb-scotland", "en-gb-x-gbclan",
    "en-gb-x-gbcwmd", "en-029",
)
# Of espeak-ng's variants those that could be people: no robots, whispers or announcers.
ESPEAK_VARIANTS = (
    "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "f1", "f2", "f3", "f4", "f5",
    "klatt", "klatt2", "klatt3", "klatt4", "klatt5", "adam", "Alex", "Alicia", "Andrea", "Andy",
    "Annie", "antonio", "AnxiousAndy", "aunty", "belinda", "benjamin", "boris", "caleb", "david",
    "Denis", "Diogo", "ed", "edward", "edward2", "Gene", "Gene2", "grandma", "grandpa", "gustave",
    "Henrique", "Hugo", "iven", "iven2", "Jacky", "john", "kaukovalta", "Lee", "linda", "marcelo",
    "Marco", "Mario", "max", "Michael", "michel", "miguel", "Mike", "Nguyen", "norbert", "pablo",
    "paul", "pedro", "quincy", "rob", "robert", "sandro", "shelby", "steph", "travis", "Tweaky",
    "victor", "zac",
)
# fmt: on
ESPEAK_WORDS_PER_MINUTE = 165
ESPEAK_AMPLITUDE = "40"  # at the default of 100 the loudest variants clip
FLITE_VOICES = ("kal16", "awb", "rms", "slt")
FESTIVAL_VOICES = {
    "kal_diphone": "festvox-kallpc16k",
    "ked_diphone": "festvox-kdlpc16k",
    "cmu_us_slt_arctic_hts": "festvox-us-slt-hts",
}


@dataclass(frozen=True)
class Delivery:
    """Who says it and how: `rate` and `pitch` are factors of the voice's own."""

    voice: str
    rate: float = 1.0
    pitch: float = 1.0


def run_program(command: list[str], good: Collection[int] = (0,)) -> bytes:
    """What a program writes to its standard output. Raises BadRecording if it fails.

    `good` are the exit statuses that are no failure.
    """
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=MOST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BadRecording(f"{command[0]} took more than {MOST_SECONDS:g} s") from None
    if done.returncode not in good:
        said = " ".join(done.stderr.decode("utf-8", "replace").split())
        raise BadRecording(f"{command[0]} failed ({done.returncode}): {said[:200]}")
    return done.stdout


class Engine(ABC):
    """A synthesiser: its program, its Debian package, and the voices that we use.

    `sets_pitch` says whether the program does; else the recording is resampled.
    """

    program: str
    package: str
    voices: tuple[str, ...]
    sets_pitch = False

    @abstractmethod
    def version(self) -> str:
        """The identity that, with a delivery and a text, decides the bytes that come out."""

    @abstractmethod
    def missing_voices(self) -> Collection[str]:
        """Names of voices that are not installed; these programs say nothing and take another."""

    @abstractmethod
    def command(self, text: str, delivery: Delivery) -> list[str]:
        """The call that writes a WAV file to its standard output."""

    def package_of(self, voice: str) -> str:
        """The Debian package that holds a voice."""
        return self.package

    def require(self) -> None:
        """Raises EngineMissing, naming the Debian package, unless all is installed."""
        if shutil.which(self.program) is None:
            raise EngineMissing(
                f"{self.program} is not installed: "
                f"install Debian's package {self.package}, or choose other engines"
            )
        for voice in self.missing_voices():
            raise EngineMissing(
                f"{self.program} lacks the voice {voice}: "
                f"Debian's package {self.package_of(voice)} has it; or choose other engines"
            )


class EspeakNg(Engine):
    """espeak-ng: formant synthesis in eight accents of English, and many variants of each."""

    program = package = "espeak-ng"
    voices = tuple(
        accent + variant
        for accent in ESPEAK_ACCENTS
        for variant in ("", *(f"+{name}" for name in ESPEAK_VARIANTS))
    )
    sets_pitch = True

    def version(self) -> str:
        """Without the folder of its data."""
        return run_program([self.program, "--version"]).decode().split("  ")[0].strip()

    def missing_voices(self) -> Collection[str]:
        """Voices that lack: accents by their names, variants by their files."""
        accents = run_program([self.program, "--voices=en"]).decode().split()
        listed = run_program([self.program, "--voices=variant"]).decode()
        variants = re.findall(r"!v/(\S+)", listed)
        return [name for name in ESPEAK_ACCENTS if name not in accents] + [
            f"+{name}" for name in ESPEAK_VARIANTS if name not in variants
        ]

    def command(self, text: str, delivery: Delivery) -> list[str]:
        """Its pitch of 50 is the voice's own; 0 is half of that, 100 twice."""
        pitch = round(50 + 50 * math.log2(delivery.pitch))
        speed = round(ESPEAK_WORDS_PER_MINUTE * delivery.rate)
        return [
            *(self.program, "--stdout", "-a", ESPEAK_AMPLITUDE, "-v", delivery.voice),
            *("-s", str(speed), "-p", str(min(max(pitch, 0), 99)), "--", text),
        ]


class Flite(Engine):
    """flite: a diphone voice, and three built from recordings of CMU ARCTIC."""

    program = package = "flite"
    voices = FLITE_VOICES

    def version(self) -> str:
        """The version of its release; flite calls it a failure to be asked."""
        said = run_program([self.program, "--version"], good=(0, 1)).decode()
        found = re.search(r"version: (\S+)", said)
        if found is None:
            raise EngineMissing(f"{self.program} does not tell its version, but {said!r}")
        return found[1]

    def missing_voices(self) -> Collection[str]:
        """Voices that are not compiled in."""
        listed = run_program([self.program, "-lv"]).decode().split()
        return [voice for voice in self.voices if voice not in listed]

    def command(self, text: str, delivery: Delivery) -> list[str]:
        """The rate is the inverse of how far phones are stretched."""
        stretch = f"duration_stretch={1 / delivery.rate:.3f}"
        return [
            *(self.program, "-voice", delivery.voice, "--setf", stretch),
            *("-t", text, "-o", "/dev/stdout"),
        ]


class Festival(Engine):
    """festival: two diphone voices and a statistical one."""

    program = package = "festival"
    voices = tuple(FESTIVAL_VOICES)

    def version(self) -> str:
        """The version that festival names itself."""
        return run_program([self.program, "--version"]).decode().strip()

    def missing_voices(self) -> Collection[str]:
        """Voices that festival does not find."""
        listed = run_program([self.program, "-b", "(print (voice.list))"]).decode()
        return [voice for voice in self.voices if voice not in listed.strip("()\n").split()]

    def package_of(self, voice: str) -> str:
        """Its voices are packages of their own."""
        return FESTIVAL_VOICES[voice]

    def command(self, text: str, delivery: Delivery) -> list[str]:
        """One expression; text without quotes and backslashes is a string of Scheme as it is."""
        rate = f"{delivery.rate:.3f}"
        tempo = (
            f'(set! hts_engine_params (append hts_engine_params (list (list "-r" {rate}))))'
            if delivery.voice.endswith("_hts")
            else f"(Parameter.set 'Duration_Stretch {1 / delivery.rate:.3f})"
        )
        utterance = f'(utt.synth (Utterance Text "{text}"))'
        script = f'(begin (voice_{delivery.voice}) {tempo} (utt.save.wave {utterance} "-" \'riff))'
        return [self.program, "-b", script]


ENGINES: dict[str, Engine] = {
    engine.program: engine for engine in (EspeakNg(), Flite(), Festival())
}
