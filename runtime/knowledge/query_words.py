"""Text and questions as words an index can hold: what a word is, and which say nothing.

Pure. Owns the stop words of the languages we know, and how writing without spaces is taken apart.
Stems and accents are the index's tokenizer's.
"""

import re
import unicodedata

__all__ = ["MAX_QUESTION_WORDS", "content_words", "spaced"]

MAX_QUESTION_WORDS = 32
_MAX_QUESTION = 4_000
_MAX_WORD = 64

# Scripts that write no spaces between words: Thai, Lao, Myanmar, Khmer, kana, han.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9d\U00020000-\U0002fa1f"
)
_UNSPACED_CHARACTER = re.compile(f"([{_UNSPACED}])")
_UNSPACED_RUN = re.compile(f"([{_UNSPACED}]+)")

# What speech calls one word: letters, digits, and accents written as characters of their own.
_WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f\u0900-\u0dff])*")

_STOP: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": """a about actually after again all also am an and any are as at be been before being
            both but by can could d did do does doing don for from get give go got had has have
            having he hello her here hers hey hi him his how i if in into is isn it its just know
            let like ll m may maybe me might more most much must my need no not now of off ok okay
            on or other our ours please re s say she should so some sorry such t tell than thank
            thanks that the their theirs them then there these they this those to too uh um up us
            ve very want was we well were what when where whether which while who whom whose why
            will with wonder wondering would yeah yes you your yours""",
        "de": """aber alle als also am an auch auf aus bei bin bis bist bitte da das dass dem den
            denn der des die dies diese dieser dieses doch du durch ein eine einem einen einer
            eines er es euch euer für gibt hab habe haben hallo hat hatte hätte ich ihm ihn ihnen
            ihr ihre ihrem ihren im in ist ja kann kannst können könnte könnten man mein meine
            meinem meinen meiner mich mir mit möchte nach nicht noch nun nur ob oder ohne schon
            sehr sein seine sich sie sind so um und uns unser unsere vom von vor wann war waren
            warum was weil welche welcher welches wenn wer werden wie wieso wir wird wo würde
            würden zu zum zur über""",
        "fr": """à ai as au aux avec avez avoir bonjour c ce ces cet cette comment d dans de des du
            elle elles en est et être eu il ils j je l la le les leur leurs lui m ma mais me merci
            mes moi mon n ne nos notre nous on ont ou où par pas peut peux plaît pour pourquoi
            pouvez puis qu quand que quel quelle quelles quels qui s sa sans se ses si son sont sur
            svp t ta te tes toi ton tu un une vos votre voudrais vous y""",
        "es": """a al algo ante como cómo con cual cuál cuáles cuando cuándo de del desde donde
            dónde e el él ella ellas ellos en entre era es esa ese eso esta está están este esto
            favor gracias ha hay hola la las le les lo los me mi mis muy más ni no nos o os para
            pero por porque puede puedo que qué quiero quien quién se ser si sí sin sobre son su
            sus también te tengo tiene tu tus un una uno y ya yo""",
        "it": """a ad ai al alla alle anche avere c che chi ci ciao come con cosa da dal dalla dei
            del della delle di dove e è ed favore gli grazie ha hanno ho i il in io l la le lei lo
            loro lui ma me mi mia mio ne nei nel nella no noi non o per perché però più posso può
            qual quale quali quando quanto quello questo se sei si sì sono su sua suo sul sulla
            tra tu un una uno vi voglio voi vorrei""",
        "nl": """aan af al als alstublieft bij ben bent dan dat de deze die dit doen door een en er
            geen graag had hallo heb hebben heeft het hij hoe ik in is ja je jij jullie kan kunnen
            kunt maar me meer met mij mijn na naar niet nog nu of om ons onze ook op over te tot u
            uit uw van voor waar waarom wanneer want was wat we welke wie wij wil willen worden
            wordt ze zich zij zijn zo zou zullen""",
        "pt": """a ao aos as até com como da das de dela dele do dos e é ela elas ele eles em entre
            era essa esse esta está este eu favor foi há isso isto já lhe mais mas me meu minha
            muito na nas não no nos nós o obrigado olá onde os ou para pela pelo por porque posso
            pode qual quais quando que quem quero se sem ser seu sua são só também te tem tenho um
            uma você""",
    }.items()
}


def spaced(text: str) -> str:
    """Text as it is indexed: scripts without spaces get one around each character."""
    return _UNSPACED_CHARACTER.sub(r" \1 ", text)


def content_words(question: str, language: str) -> tuple[str, ...]:
    """The words of a free question that say something, each once, in order.

    All of them where nothing but stop words was asked. A word of a script without spaces is a pair
    of characters with a space between. At most ``MAX_QUESTION_WORDS``.
    """
    text = unicodedata.normalize("NFC", question[:_MAX_QUESTION]).lower()
    words: dict[str, None] = {}
    for piece in _UNSPACED_RUN.split(text):
        if _UNSPACED_RUN.fullmatch(piece):
            words.update(dict.fromkeys(_pairs(piece)))
        else:
            words.update(dict.fromkeys(w[:_MAX_WORD] for w in _WORD.findall(piece)))
    stop = _STOP.get(language.replace("_", "-").partition("-")[0].lower(), frozenset[str]())
    telling = [word for word in words if word not in stop]
    return tuple((telling or list(words))[:MAX_QUESTION_WORDS])


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    return [f"{a} {b}" for a, b in zip(run, run[1:], strict=False)]
