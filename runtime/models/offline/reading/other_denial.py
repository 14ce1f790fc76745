"""How other languages deny: a few words of each, so that no choice is taken that was refused.

Owns the words. They deny the whole clause, up to the next pause; words that also answer a question
(Spanish "no") are left out. Nothing else of these languages is packaged.
"""

from collections.abc import Mapping

from runtime.models.offline.reading.denial_words import DenialWords

__all__ = ["OTHER_DENIALS"]

OTHER_DENIALS: Mapping[str, DenialWords] = {
    language: DenialWords(cues={"clause": tuple(words.split())})
    for language, words in {
        "de": """nicht kein keine keinen keiner keinem keines nie niemals niemand nichts außer ohne
            weder statt""",
        "nl": "niet geen nooit niemand niets behalve zonder noch",
        "fr": "pas jamais aucun aucune personne rien sauf sans ni excepté",
        "es": "nunca jamás nadie nada tampoco excepto salvo menos sin ni ningún ninguna",
        "it": "non mai nessuno nessuna niente tranne eccetto senza né",
        "pt": "nunca jamais ninguém nada exceto salvo menos sem nem nenhum nenhuma",
    }.items()
}
