"""Recordings by number: each is a pure function of the plan, the text and its number."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from earshot.training.corpus.manifest import CORPUS_NAME
from earshot.training.synthetic.engines import ENGINES, Delivery, Engine
from earshot.training.synthetic.errors import SynthesisError
from earshot.training.synthetic.sayings.kinds import BALANCED, GRAMMARS, SENTENCES
from earshot.training.synthetic.sayings.saying import Saying
from earshot.training.synthetic.sentences import Sentences

LEAST_FACTOR, MOST_FACTOR = 0.5, 2.0  # of a voice's own rate and pitch; engines go no further
VERSION = 1  # of the grammars and of what is done to the sound; a folder holds one


@dataclass(frozen=True)
class Prompt:
    """One recording to be made."""

    kind: str
    saying: Saying
    engine: str
    delivery: Delivery

    @property
    def speaker(self) -> str:
        """The voice, whatever its rate and pitch."""
        return f"{self.engine}:{self.delivery.voice}"


def _require_shares(what: str, shares: Mapping[str, float], known: Mapping[str, object]) -> None:
    unknown = sorted(set(shares) - set(known))
    if unknown:
        raise SynthesisError(f"no {what} {', '.join(unknown)}; there are {', '.join(known)}")
    if not shares or not all(0 < share < math.inf for share in shares.values()):
        raise SynthesisError(f"{what}: needs shares above 0, not {dict(shares)}")


def _draw(rng: random.Random, shares: Mapping[str, float]) -> str:
    names = sorted(shares)  # whatever the order in which they were given
    return rng.choices(names, weights=[shares[name] for name in names])[0]


@dataclass(frozen=True)
class Plan:
    """Shares of kinds and engines among the recordings, and ranges of the factors.

    `corpus` names the corpus in the manifest; without it each kind is one, "synthetic-numbers".
    Raises SynthesisError for names, kinds, engines, shares and factors that cannot be.
    """

    seed: int
    kinds: Mapping[str, float] = field(default_factory=lambda: BALANCED)
    engines: Mapping[str, float] = field(default_factory=lambda: {"espeak-ng": 1.0, "flite": 1.0})
    rate: tuple[float, float] = (0.75, 1.35)
    pitch: tuple[float, float] = (0.85, 1.2)
    corpus: str | None = None

    def __post_init__(self) -> None:
        _require_shares("kind", self.kinds, {SENTENCES: None, **GRAMMARS})
        _require_shares("engine", self.engines, ENGINES)
        if self.corpus is not None and not CORPUS_NAME.fullmatch(self.corpus):
            raise SynthesisError(f"corpus {self.corpus!r}: letters, digits, - and _ only")
        for what, (low, high) in (("rate", self.rate), ("pitch", self.pitch)):
            if not LEAST_FACTOR <= low <= high <= MOST_FACTOR:
                raise SynthesisError(
                    f"{what}: needs {LEAST_FACTOR:g} <= low <= high <= {MOST_FACTOR:g}, "
                    f"not {low:g} to {high:g}"
                )

    def prompt(self, index: int, sentences: Sentences) -> Prompt:
        """The prompt of recording `index`, and who says it."""
        rng = random.Random(f"{self.seed}/{index}")
        kind, engine = _draw(rng, self.kinds), _draw(rng, self.engines)
        delivery = Delivery(
            rng.choice(ENGINES[engine].voices),
            rate=math.exp(rng.uniform(*map(math.log, self.rate))),
            pitch=math.exp(rng.uniform(*map(math.log, self.pitch))),
        )
        saying = sentences.at(index) if kind == SENTENCES else GRAMMARS[kind](rng)
        return Prompt(kind, saying, engine, delivery)

    def corpus_of(self, kind: str) -> str:
        """What the manifest calls the corpus of a kind."""
        return f"synthetic-{kind}" if self.corpus is None else self.corpus

    def required_engines(self) -> dict[str, Engine]:
        """The engines by name. Raises EngineMissing unless all of them are installed."""
        engines = {name: ENGINES[name] for name in self.engines}
        for engine in engines.values():
            engine.require()
        return engines

    def identity(self, sentences: Sentences) -> dict[str, object]:
        """The identity of the recordings: two runs with the same one make the same bytes."""
        return {
            "version": VERSION,
            "seed": self.seed,
            "corpus": self.corpus,
            "kinds": dict(self.kinds),
            "engines": dict(self.engines),
            "engine_versions": {name: ENGINES[name].version() for name in self.engines},
            "rate": list(self.rate),
            "pitch": list(self.pitch),
            "sentences": sentences.digest if SENTENCES in self.kinds else None,
        }
