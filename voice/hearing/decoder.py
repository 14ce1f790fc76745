"""From a stretch of the caller's sound to a text with its likelihoods: one job of the worker.

Owns what happens to the sound before the model (rate, level) and what is asked of the model for it.
Runs in the worker, touches no call's state. What the answer is worth is ``believe``'s matter.
"""

from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from voice.audio.level import dbfs
from voice.audio.resample import Resampler
from voice.hearing.believe import Weighed, is_weighable, most_tokens, unlooped
from voice.hearing.moonshine import MODEL_HZ, Float, Moonshine
from voice.hearing.ports import Samples
from voice.hearing.utterance import Stretch
from voice.hearing.weighing import PhraseScales

__all__ = ["Decoded", "Decoder", "MoonshineDecoder"]

_LEVEL_DBFS: Final = -21.0
_MOST_GAIN_DB: Final = 36.0
"""A line too soft for this carries no words worth writing down."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """What the model wrote, before anybody believed it."""

    text: str
    logprob: float
    """Mean a token."""
    weighed: Weighed | None = None
    """Short texts only."""


class Decoder(Protocol):
    """Writes down one stretch; called in the worker."""

    def decode(self, stretch: Stretch, rate_hz: int) -> Decoded:
        """Write down the stretch's sound, which is at ``rate_hz``."""
        ...


class MoonshineDecoder(Decoder):
    """The embedded model, with its phrases at hand; one for the process."""

    def __init__(self) -> None:
        """Load the model (0.4 s, 130 MB).

        Raises:
            ProviderError: the model's files are missing or not the expected ones.
        """
        self._model = Moonshine()
        self._scales = PhraseScales(self._model)

    def decode(self, stretch: Stretch, rate_hz: int) -> Decoded:
        """See ``Decoder.decode``; 10-130 ms for up to 11 s of sound."""
        heard = self._model.hear(_prepared(stretch.sound, rate_hz))
        greedy = self._model.write(heard, most_tokens(heard.samples / MODEL_HZ))
        text = unlooped(self._model.vocabulary.text(greedy.tokens))
        weighed = None
        if is_weighable(text, stretch.voiced_ms):
            weighed = self._scales.weigh(heard, greedy)
        return Decoded(text, greedy.mean_logprob, weighed)


def _prepared(sound: Samples, rate_hz: int) -> Float:
    """At the model's rate and at the level it was trained on."""
    wide = Resampler(rate_hz, MODEL_HZ).push(sound)
    gain_db = min(_MOST_GAIN_DB, _LEVEL_DBFS - dbfs(wide))
    scale = np.float32(10.0 ** (gain_db / 20.0) / 32768.0)
    return np.clip(wide * scale, -1.0, 1.0, dtype=np.float32)
