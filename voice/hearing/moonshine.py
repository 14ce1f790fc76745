"""Moonshine tiny-en on onnxruntime: sound to hidden states, hidden states to tokens and scores.

Owns the model's files, its two networks and its vocabulary. What a caller's answer is, and whether
to believe it, is ``stt_local`` and ``believe``. The weights lie inside the ``moonshine_voice``
package, whose own code (a microphone client with its own detector) is never imported.

The encoder runs once for a stretch of sound. The decoder then writes token by token; it keeps what
it computed for earlier tokens in a cache, and for the sound in a second one that the first step
fills. Scoring given phrases needs no loop: all of them go through the decoder as one batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from runtime.errors import ProviderError
from voice.hearing.onnx import Tensor, file_in_package, open_session, sha256_of, zeros
from voice.hearing.vocabulary import END, START, Vocabulary

__all__ = ["MODEL_HZ", "Float", "Greedy", "Heard", "Moonshine"]

MODEL_HZ: Final = 16000
"""The sample rate the model was trained on."""

_SHA256: Final = {
    "encoder_model.ort": "94e90a4654fc45cdfedb77c4c08e1739f48862998e58fada384b25118134f221",
    "decoder_model_merged.ort": "cf524c4862d36e9e5ab032eddc73637efd822d70e868ac575cf1a46e1e4708a0",
    "tokenizer.bin": "6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d",
}
_LAYERS: Final = 6
_HEADS: Final = 8
_HEAD_WIDTH: Final = 36
_LEAST_SAMPLES: Final = 4000
"""The encoder's strides need some sound; shorter stretches are filled up with silence."""

_CACHES: Final = tuple(
    f"{layer}.{side}.{part}"
    for layer in range(_LAYERS)
    for side in ("decoder", "encoder")
    for part in ("key", "value")
)

Float = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Heard:
    """A stretch of sound as the encoder left it; any number of decodings may follow."""

    hidden: Float
    """Shape ``(1, steps, width)``."""
    samples: int


@dataclass(frozen=True, slots=True)
class Greedy:
    """The likeliest token each time, to the end token or the cap."""

    tokens: tuple[int, ...]
    """Without start and end."""
    logprobs: tuple[float, ...]
    """One a token, and one for the end token where it was reached."""
    first: Float
    """Log-probabilities of the whole vocabulary for the first token: a bound for any phrase."""

    @property
    def mean_logprob(self) -> float:
        """Mean over tokens and end; 0 for nothing."""
        return sum(self.logprobs) / len(self.logprobs) if self.logprobs else 0.0


class Moonshine:
    """The loaded model; one for the process. Safe to call from several threads."""

    def __init__(self) -> None:
        """Check the files (44 MB, 0.1 s) and load them.

        Raises:
            ProviderError: files that are missing, or not the ones this code was written for.
        """
        paths = {name: _checked(name) for name in _SHA256}
        self._encoder = open_session(paths["encoder_model.ort"])
        self._decoder = open_session(paths["decoder_model_merged.ort"])
        self.vocabulary = Vocabulary(paths["tokenizer.bin"].read_bytes())
        # The first run of a graph plans its memory; no live caller should wait for that.
        self.write(self.hear(zeros(MODEL_HZ)), 2)

    def hear(self, sound: Float) -> Heard:
        """Encode sound: 16 kHz, full scale = 1, any length over nothing."""
        if sound.size < _LEAST_SAMPLES:
            sound = np.concatenate((sound, zeros(_LEAST_SAMPLES - sound.size)))
        feeds = {
            "input_values": sound[None],
            "attention_mask": np.ones((1, sound.size), np.int64),
        }
        return Heard(self._encoder.run(["last_hidden_state"], feeds)[0], sound.size)

    def write(self, heard: Heard, most_tokens: int) -> Greedy:
        """Write down what was heard, at most so many tokens."""
        caches = _empty_caches(1, heard.hidden.shape[1])
        token, tokens, logprobs = START, list[int](), list[float]()
        first: Float | None = None
        while len(tokens) < most_tokens:
            step = np.array([[token]], np.int64)
            scores, *present = self._decoder.run(
                None, self._feeds(heard, heard.hidden, step, caches, cached=first is not None)
            )
            likely = _log_softmax(scores[0, -1])
            for name, cache in zip(_CACHES, present, strict=True):
                # The part for the sound is computed at the first step only and stays as it is.
                if first is None or "decoder" in name:
                    caches[name] = cache
            first = likely if first is None else first
            token = int(likely.argmax())
            logprobs.append(float(likely[token]))
            if token == END:
                break
            tokens.append(token)
        if first is None:
            first = zeros(len(self.vocabulary))
        return Greedy(tuple(tokens), tuple(logprobs), first)

    def score(self, heard: Heard, phrases: Sequence[tuple[int, ...]]) -> list[tuple[float, Float]]:
        """Tell how likely each phrase is for the same sound, all in one batch.

        A phrase's score is the sum of its tokens' log-probabilities; beside it come the
        log-probabilities of whatever may follow its last token.
        """
        if not phrases:
            return []
        longest = max(len(phrase) for phrase in phrases)
        steps = np.full((len(phrases), longest + 1), END, np.int64)
        for row, phrase in enumerate(phrases):
            steps[row, : len(phrase) + 1] = (START, *phrase)
        hidden = np.repeat(heard.hidden, len(phrases), axis=0)
        caches = _empty_caches(len(phrases), hidden.shape[1])
        scores = self._decoder.run(
            ["logits"], self._feeds(heard, hidden, steps, caches, cached=False)
        )[0]
        answers: list[tuple[float, Float]] = []
        for row, phrase in enumerate(phrases):
            likely = [_log_softmax(scores[row, at]) for at in range(len(phrase) + 1)]
            total = sum(float(likely[at][token]) for at, token in enumerate(phrase))
            answers.append((total, likely[-1]))
        return answers

    def _feeds(
        self,
        heard: Heard,
        hidden: Float,
        steps: NDArray[np.int64],
        caches: dict[str, Tensor],
        *,
        cached: bool,
    ) -> dict[str, Tensor]:
        feeds: dict[str, Tensor] = {
            "input_ids": steps,
            "encoder_hidden_states": hidden,
            # The graph strides this mask itself: it is as long as the sound, not as the states.
            "encoder_attention_mask": np.ones((len(hidden), heard.samples), np.int64),
            "use_cache_branch": np.array([cached]),
        }
        for name, cache in caches.items():
            feeds[f"past_key_values.{name}"] = cache
        return feeds


def _checked(name: str) -> Path:
    path = file_in_package("moonshine_voice", "assets", "tiny-en", name)
    if sha256_of(path) != _SHA256[name]:
        raise ProviderError(f"{name} of moonshine_voice is not the model this code was written for")
    return path


def _empty_caches(rows: int, sound_steps: int) -> dict[str, Tensor]:
    return {
        name: zeros(rows, _HEADS, sound_steps if "encoder" in name else 0, _HEAD_WIDTH)
        for name in _CACHES
    }


def _log_softmax(scores: Float) -> Float:
    top = scores.max()
    return scores - (top + np.log(np.exp(scores - top).sum()))
