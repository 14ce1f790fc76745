"""How likely short phrases are for a sound, asked of the model itself.

Owns which phrases are scored and how their scores are made comparable; what follows from them is
``believe``'s matter. A phrase's first token is never likelier than the whole phrase, and those
probabilities are known from writing the text: so what can't win is left out of the batch, which
leaves none to five of thirty.
"""

from typing import Final

from voice.hearing.believe import BACKCHANNELS, INTERRUPTS, WITHIN_NATS, Weighed
from voice.hearing.moonshine import Float, Greedy, Heard, Moonshine
from voice.hearing.vocabulary import END

__all__ = ["PhraseScales"]

_MARKS: Final = (".", ",", "!", "?")


class PhraseScales:
    """The phrases in the model's tokens; one for the process."""

    def __init__(self, model: Moonshine) -> None:
        """Cut the phrases into tokens once."""
        cut = model.vocabulary.tokens
        self._model = model
        self._backchannels = [(phrase, cut(phrase)) for phrase in BACKCHANNELS]
        self._interrupts = [(phrase, cut(phrase)) for phrase in INTERRUPTS]
        self._marks = tuple(cut(f"a{mark}")[-1] for mark in _MARKS)

    def weigh(self, heard: Heard, greedy: Greedy) -> Weighed:
        """Score the phrases that could come near the greedy text."""
        total = self._total(greedy)
        least = total - WITHIN_NATS
        near = [
            [entry for entry in kind if float(greedy.first[entry[1][0]]) >= least]
            for kind in (self._backchannels, self._interrupts)
        ]
        backchannels, interrupts = near
        if not backchannels:
            return Weighed(total, None, None)
        together = backchannels + interrupts
        scored = self._model.score(heard, [tokens for _, tokens in together])
        scores = [score + self._ending(after) for score, after in scored]
        named = list(zip(scores, (phrase for phrase, _ in together), strict=True))
        cut = len(backchannels)
        return Weighed(total, max(named[:cut]), max(named[cut:], default=None))

    def _total(self, greedy: Greedy) -> float:
        """The text's score as a phrase is scored: one mark or the end after the last word."""
        logprobs = greedy.logprobs[: len(greedy.tokens)]
        if greedy.tokens and greedy.tokens[-1] in self._marks:
            return sum(logprobs)
        return sum(greedy.logprobs)

    def _ending(self, after: Float) -> float:
        return max(float(after[token]) for token in (*self._marks, END))
