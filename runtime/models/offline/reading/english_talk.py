"""English: the phrases of talk.

Owns what English callers say around a value: fillers, politeness, answers, corrections, controls.
Numbers, dates and spelling are in ``english.py``, which puts both together.
"""

__all__ = [
    "ANSWERS",
    "CHOICE_NOISE",
    "CONTROLS",
    "CORRECTIONS",
    "FILLERS",
    "LEAD_INS",
    "NAME_LEADS",
    "NAME_PARTICLES",
    "NOT_NAMES",
    "POLITE",
    "TITLES",
]

FILLERS = (
    *("um", "umm", "uhm", "uh", "er", "erm", "hm", "hmm", "mm", "ah", "oh", "eh", "well", "so"),
    *("like", "you know", "let's see", "let me see", "let me think"),
)
POLITE = (
    *("please", "thanks", "thank you", "thank you very much", "thanks a lot", "many thanks"),
    *("cheers", "sir", "ma'am", "madam", "dear", "kindly", "if you could", "if you can"),
    *("if possible", "if that's ok", "if that's okay", "for me"),
)
CORRECTIONS = (
    *("no i meant", "no i mean", "i meant", "i mean", "i meant to say", "i said", "no i said"),
    *(
        "what i meant was",
        "what i said was",
        "no it's",
        "no it is",
        "no its",
        "no that's not right",
    ),
    *("actually", "actually no", "no actually", "actually it's", "actually make that"),
    *("actually make it", "actually i meant", "actually change it to", "or rather", "rather"),
    *("sorry", "sorry make that", "sorry make it", "sorry i meant", "sorry i mean", "sorry it's"),
    *("no sorry", "no sorry it's", "no sorry i meant", "sorry no", "oh sorry", "my mistake"),
    *("i'm sorry", "i'm sorry i meant", "i misspoke", "correction", "scratch that", "strike that"),
    *("make that", "make it", "no make that", "no make it", "please make that", "let's make it"),
    *("let's make that", "can you make that", "can you make it", "could you make it"),
    *("change it to", "change that to", "please change it to", "can you change it to"),
    *("can you change that to", "could you change it to", "could you change that to"),
    *("i want to change it to", "i'd like to change it to", "i want to change that to"),
    *("can we change it to", "can we change that to", "can we make it", "set it to"),
    *("it should be", "it should have been", "that should be", "it's supposed to be"),
    *("no wait", "wait no", "wait", "no", "nope", "not that", "that's wrong", "no that's wrong"),
    *("that's not right", "that's not right it's", "that's wrong it's", "that's incorrect"),
    *("no that's wrong it's", "no that's not right it's", "you got that wrong", "wrong"),
    *("you got it wrong", "you misheard", "you misheard me", "i didn't say that"),
)
LEAD_INS = (
    *("it's", "it is", "that's", "that is", "that would be", "it would be", "it'll be", "this is"),
    *("i'd like", "i would like", "i'd like to have", "i want", "i need", "i'll take", "i'll have"),
    *("i will take", "i will have", "i'd prefer", "i would prefer", "i prefer", "let me have"),
    *("let's go with", "i'll go with", "i'd go with", "let's say", "let's do", "let's take"),
    *("can i get", "can i have", "could i get", "could i have", "give me", "make it", "i think"),
    *("i think it's", "i believe it's", "i guess", "the answer is", "i choose", "i'd choose"),
    *("go with", "we'd like", "we would like", "we need", "we want", "i said", "i live at"),
    *("i live in", "we live at", "it's at", "it's about", "it's for", "you can use", "use"),
    *("you can put", "put", "just put", "just", "yes it's", "yes", "yeah", "yeah it's", "sure"),
    *("sure it's", "ok", "okay", "ok it's", "yep", "of course", "of course it's", "right"),
    *("all right", "alright", "there are", "there will be", "there's", "we are", "we're"),
)
NAME_LEADS = {
    "strong": (
        *("my name is", "my name's", "the name is", "the name's", "name is", "name's", "names"),
        *("my full name is", "my first name is", "my last name is", "my surname is", "call me"),
        *("you can call me", "please call me", "just call me", "you're speaking with"),
        *("you're speaking to", "you are speaking with", "you're talking to", "it's under"),
        *("under the name", "under the name of", "under", "it's in the name of", "name"),
        *("the name on the account is", "the name is under", "yes my name is", "my name"),
        *("the booking is under", "it's booked under", "book it under", "put it under"),
    ),
    "weak": (
        *("i'm", "i am", "it's", "it is", "this is", "that's", "that is", "that would be"),
        *("it would be", "yes it's", "yes this is", "yeah it's", "for", "hi", "hello", "hey"),
        *("hi there", "hello there", "yes", "yeah", "sure", "ok", "okay", "of course"),
        *("good morning", "good afternoon", "good evening", "hi this is", "speaking with"),
    ),
}
TITLES = {
    "dr": "Dr.",
    "doctor": "Dr.",
    "mr": "Mr.",
    "mister": "Mr.",
    "mrs": "Mrs.",
    "missus": "Mrs.",
    "ms": "Ms.",
    "miss": "Ms.",
    "prof": "Prof.",
    "professor": "Prof.",
}
NAME_PARTICLES = frozenset(
    "de la van von der den del di da du le bin ibn al el ter ten dos".split()
)
NOT_NAMES = frozenset(
    """a about actually after again agent all also am an and any anyone anything are as ask at away
    back bad be because been before being book booking busy but by bye call called caller calling
    can cancel cannot can't case change check clear confused could couldn't customer day did didn't
    do does doesn't doing done don't either else enough evening everything fine first for forget
    from
    get give glad go goes going good got great had happy has have haven't having he hello help her
    here hey hi him his hold home how hungry i i'd i'll i'm i've if in interested into is isn't it
    it's just know last late later leave let like listening long look looking lost lot made make
    many matter may maybe me mean might mine minute moment more morning most much must my name near
    need never new next nice no nobody none nope nor not nothing now of off ok okay old on one only
    open operator or order other our out over own pardon person phone please possible probably
    problem question ready really reason regarding repeat representative right said same say see
    seen send she should since so some somebody someone something sorry speak speaking still stop
    sure take talk talking tell than thank thanks that that's the their them then there these they
    thing think this those through time to today together told tomorrow tonight too tried true try
    trying two under until up us very wait waiting want was wasn't way we well were what what's when
    where which who whose why will with without won't work working would wrong yeah yep yes
    yesterday yet you your yours spelled spelt spell that's um uh er""".split()
)
_WEAK_YES = (
    *("ok", "okay", "right", "alright", "all right", "fine", "good", "great", "i do", "i am"),
    *("i would", "i will", "it is", "you can", "you may", "speaking", "true", "continue"),
    *("i think so", "i believe so", "i guess so", "i suppose so"),
)
ANSWERS = {
    "yes": (
        *(
            "yes",
            "sure",
            "yeah",
            "yep",
            "yup",
            "yea",
            "ya",
            "yah",
            "yes yes",
            "aye",
            "uh huh",
            "mhm",
        ),
        *("mm hmm", "mm hm", "mhmm", "yessir", "yes indeed", "indeed", "absolutely", "certainly"),
        *("definitely", "exactly", "precisely", "of course", "totally", "affirmative", "correct"),
        *("that's correct", "that is correct", "that's right", "that is right", "that's it"),
        *("that's fine", "that is fine", "that's good", "that's great", "that's perfect"),
        *("that's okay", "that's ok", "it's fine", "it's correct", "it's right"),
        *("sounds good", "sounds great", "that sounds good", "that sounds great", "looks good"),
        *("that works", "that works for me", "works for me", "that'd be great", "perfect"),
        *(
            "that would be great",
            "that would be good",
            "that would be nice",
            "that would be lovely",
        ),
        *("that'll do", "that will do", "go ahead", "please go ahead", "go for it", "do it"),
        *("do that", "please do", "yes you can", "yes you may", "yes i do"),
        *("yes i am", "yes i would", "yes it is", "yes they are", "yes we are", "yes that's it"),
        *("i agree", "agreed", "i confirm", "confirm"),
        *("confirmed", "confirm it", "approved", "permission granted", "granted", "by all means"),
        *("why not", "sure why not", "sure thing", "you bet", "let's do it", "let's do that"),
        *("let's go", "be my guest", "no problem", "not a problem", "no worries", "i'd love to"),
        *("i'd love that", "i'd like that", "i would like that", "very well", "yes do it"),
        *("sure go ahead", "no objection", "no objections", "i don't mind", "got it right"),
        *("you got it right", "you've got it right", "you got it", "all correct", "all good"),
        *("all right go ahead", "proceed", "please proceed", "carry on"),
        *("please continue", "that's me", "that is me"),
    ),
    "weak_yes": _WEAK_YES,
    "no": (
        *("no", "nope", "nah", "naw", "no no", "no no no", "nay", "no way", "never", "negative"),
        *("no thanks", "no thank you", "no thank you very much", "not really", "not at all"),
        *("not now", "not yet", "not today", "not right now", "not this time", "absolutely not"),
        *("of course not", "certainly not", "definitely not", "probably not", "i'd rather not"),
        *("i would rather not", "rather not", "better not", "i'd prefer not to", "please don't"),
        *("please do not", "don't", "do not", "don't do it", "don't do that", "do not do that"),
        *("please don't do that", "i don't", "i do not", "i don't want to", "i don't want that"),
        *("i don't want it", "i don't think so", "i don't believe so", "i'm not", "i am not"),
        *("i won't", "i wouldn't", "it isn't", "it's not", "it is not", "that's not it"),
        *("that's wrong", "that is wrong", "wrong", "incorrect", "that's incorrect", "not correct"),
        *("that's not right", "that is not right", "that isn't right", "not right", "not quite"),
        *("that's not correct", "that is not correct", "that isn't correct", "not exactly"),
        *("that's not what i said", "that's not what i want", "that's not what i wanted", "false"),
        *("not okay", "not ok", "no good", "that's no good", "that doesn't work", "no it's not"),
        *("that won't work", "no it isn't", "no i don't", "no i'm not", "no that's it"),
        *("no that's all", "that's all", "no i'm good", "i'm good", "no i'm fine", "i'm fine"),
        *(
            "no nothing",
            "nothing else",
            "no nothing else",
            "no that's wrong",
            "no that's not right",
        ),
        *("no that's not it", "under no circumstances", "no chance", "denied", "no don't"),
        *("no please don't", "no that's everything", "forget it", "never mind", "nevermind"),
        *("no it is not", "no that will be all", "no that'll be all", "nothing", "not that one"),
        *("leave it", "please no", "hell no", "i decline", "decline", "declined"),
    ),
    "other": ("don't you", "don't we", "don't they", "do not you", "don't i", "no one", "i am a"),
    "act": (
        *("cancel", "cancel it", "cancel that", "cancel this", "stop", "stop it", "stop that"),
        *("abort", "undo that", "drop it", "scrap it", "scrap that", "delete it", "delete that"),
        *("please cancel", "please stop", "end it", "reject", "reject it", "refuse"),
    ),
    "hedge": (
        *("maybe", "perhaps", "possibly", "probably", "i don't know", "i do not know", "dunno"),
        *("i dunno", "not sure", "i'm not sure", "i am not sure", "i'm not certain", "unsure"),
        *("i guess", "i suppose", "it depends", "that depends", "depends", "sort of", "kind of"),
        *("kinda", "sorta", "could be", "might be", "i might", "more or less", "i have no idea"),
        *("no idea", "hard to say", "let me think", "let me think about it", "i need to think"),
        *("hold on", "wait", "wait a second", "wait a minute", "one moment", "one second"),
        *("just a moment", "just a second", "hang on", "actually", "or", "or not", "but wait"),
        *("later", "maybe later", "i think", "if you think so", "if you say so", "whatever"),
        *("say again", "what", "why", "how", "huh", "pardon", "sorry", "excuse me", "who"),
        *("when", "where", "which one", "which"),
    ),
    "neutral": (
        *("and", "then", "now", "just", "i said", "the answer is", "that's a", "it's a", "i say"),
        *("that would be a", "i'd say", "i would say", "my answer is", "a", "it's", "that's"),
        *("i think it's", "really", "very", "very much", "much", "for now", "at the moment"),
        *("thanks for asking", "i mean", "honestly", "that", "this", "too", "as well"),
        *("with that", "we can", "today", "tonight", "now please", "i am sure", "i'm sure"),
        *("for sure", "a hundred percent", "one hundred percent", "if you don't mind"),
    ),
}
CONTROLS = {
    "thanks": (
        *("thanks", "thank you", "thank you very much", "thank you so much", "thanks a lot"),
        *("many thanks", "thanks so much", "cheers", "i appreciate it", "much appreciated"),
        *("that's very kind", "that's kind of you", "thanks for your help"),
        *("thank you for your help",),
    ),
    "greeting": (
        *("hello", "hi", "hey", "hi there", "hello there", "hey there", "good morning"),
        *("good afternoon", "good evening", "good day", "greetings", "how are you"),
        *("how are you doing", "how are you today", "nice to meet you", "howdy"),
    ),
    "presence": (
        *(
            "are you there",
            "are you still there",
            "hello are you there",
            "hello are you still there",
        ),
        *("can you hear me", "do you hear me", "is anyone there", "is anybody there"),
        *("anyone there", "anybody there", "still there", "you there", "you still there"),
        *("are you listening", "hello hello", "is this thing on", "did you hear me"),
        *("did i lose you", "have i lost you"),
    ),
    "goodbye": (
        *("bye", "bye bye", "goodbye", "good bye", "see you", "see you later", "see ya"),
        *("take care", "have a nice day", "have a good day", "have a great day", "good night"),
        *("that's all", "that is all", "that's all thanks", "that will be all", "that'll be all"),
        *("that's it", "that is it", "no that's it", "no that's all", "that's everything"),
        *("no that's everything", "nothing else", "no nothing else", "hang up", "end the call"),
        *("end call", "hang up now", "you can hang up", "please hang up", "we're done"),
        *("i'm done", "i am done", "we are done", "that's all i needed", "that was all"),
        *("that's all i need", "that was it", "talk to you later", "disconnect", "i have to go"),
        *("i've got to go", "gotta go", "i need to go", "end this call", "that's it for today"),
        *("that's all for today", "that's all for now", "that's it for now", "ciao", "cya"),
    ),
    "wait": (
        *("hold on", "hang on", "wait", "one moment", "one second", "one sec", "just a moment"),
        *(
            "just a second",
            "just a minute",
            "a moment",
            "a second",
            "one minute",
            "give me a second",
        ),
        *("give me a moment", "give me a minute", "hold on a second", "hold on a minute"),
        *("hold on a moment", "hang on a second", "hang on a minute", "wait a second"),
        *(
            "wait a minute",
            "wait a moment",
            "let me look",
            "let me check",
            "let me see",
            "bear with",
        ),
        *("bear with me", "let me find it", "let me get it", "let me look it up", "just wait"),
        *("let me look that up", "let me grab it", "let me think", "i'm looking for it"),
        *("i need a moment", "i need a second", "i need a minute", "hold please", "hold the line"),
        *(
            "i'll be right back",
            "be right back",
            "just a sec",
            "a sec",
            "hold on a sec",
            "stand by",
        ),
        *("let me go get it", "give me a sec", "wait wait", "hold on one second", "not so fast"),
        *("let me look for it", "let me find out", "can you hold", "let me ask", "wait a sec"),
    ),
    "help": (
        *(
            "help",
            "help me",
            "what can you do",
            "what do you do",
            "what can i do",
            "what can i say",
        ),
        *("what are my options", "what are the options", "how does this work", "i need help"),
        *("what can i ask", "what can i ask you", "what can you help with", "i need some help"),
        *(
            "what can you help me with",
            "how can you help",
            "how can you help me",
            "can you help me",
        ),
        *("can you help", "how do i use this", "what are my choices", "what should i say"),
        *("what do i say", "what do i do", "menu", "main menu", "options", "what now"),
    ),
    "repeat": (
        *("say that again", "say it again", "say again", "repeat", "repeat that", "repeat it"),
        *("pardon", "pardon me", "i beg your pardon", "come again", "what was that", "what"),
        *("what did you say", "what did you just say", "i didn't catch that", "didn't catch that"),
        *("i didn't get that", "i didn't hear you", "i didn't hear that", "i missed that"),
        *("i couldn't hear you", "i couldn't hear that", "one more time", "once more", "huh"),
        *("repeat the question", "what was the question", "say that one more time", "excuse me"),
        *("i didn't understand", "i don't understand", "i didn't understand that", "what's that"),
        *("i did not catch that", "i did not hear that", "i did not hear you", "again please"),
        *("could you repeat that", "can you repeat that", "could you repeat", "can you repeat"),
        *("can you say that again", "could you say that again", "sorry what", "what sorry"),
        *("sorry what was that", "i can't hear you", "i can't understand you", "say what"),
        *("could you say that one more time", "can you say that one more time", "repeat yourself"),
        *("repeat what you said", "can you repeat the question", "could you repeat the question"),
        *("would you repeat that", "would you mind repeating that", "read that again"),
        *("read it back", "read that back", "can you read that back"),
    ),
    "cancel": (
        *("never mind", "nevermind", "forget it", "forget that", "forget about it", "cancel"),
        *("forget about that", "cancel that", "cancel it", "cancel this", "stop", "stop this"),
        *("stop that", "stop it", "abort", "drop it", "leave it", "quit", "exit", "scrap that"),
        *("i changed my mind", "i've changed my mind", "i don't want to do this", "let's stop"),
        *("let's not", "let's forget it", "let's leave it", "i don't want to anymore"),
        *("i don't want this", "i don't want this anymore", "i don't want that anymore"),
        *("let's not do this", "let's not do that", "don't bother", "scratch that", "undo"),
        *("actually never mind", "actually forget it", "let's cancel", "let's cancel that"),
        *("cancel the whole thing", "cancel everything", "stop the process", "start over"),
        *("let's start over",),
    ),
    "human": (
        *("a person", "a real person", "a human", "a human being", "an agent", "agent", "human"),
        *("representative", "a representative", "operator", "the operator", "an operator"),
        *("talk to a person", "talk to a human", "talk to someone", "talk to somebody"),
        *("speak to a person", "speak to a human", "speak to someone", "speak to somebody"),
        *("talk to a real person", "speak to a real person", "speak with a person"),
        *("speak with someone", "speak with a human", "talk with a person", "talk with someone"),
        *("speak with a real person", "talk with a human", "talk to an agent", "speak to an agent"),
        *("speak with an agent", "talk to a representative", "speak to a representative"),
        *("speak with a representative", "talk to customer service", "customer service"),
        *("speak to customer service", "live agent", "a live agent", "real person", "transfer me"),
        *(
            "talk to your manager",
            "talk to a manager",
            "speak to a manager",
            "speak to the manager",
        ),
        *("speak to your manager", "connect me to an agent", "connect me to a person"),
        *("connect me with someone", "put me through", "put me through to someone"),
        *("put me through to a person", "put me through to an agent", "transfer me to an agent"),
        *("transfer me to a person", "transfer me to a human", "get me a person", "get me a human"),
        *("get me an agent", "give me a person", "give me a human", "let me talk to a person"),
        *("let me speak to a person", "let me talk to someone", "let me speak to someone"),
        *(
            "talk to a live person",
            "talk to a live agent",
            "speak to a live person",
            "a supervisor",
        ),
        *("speak to a supervisor", "talk to a supervisor", "is there a person", "supervisor"),
        *("talk to an operator", "speak to an operator", "talk to the operator"),
    ),
    "neutral": (
        *("can i", "could i", "may i", "can you", "could you", "would you", "i want to", "i want"),
        *("i'd like to", "i would like to", "i'd like", "i need to", "i need", "i wanna", "can we"),
        *("please", "now", "then", "just", "actually", "sorry", "no", "yes", "yeah", "ok", "okay"),
        *("alright", "all right", "right", "great", "perfect", "good", "well", "so", "oh", "um"),
        *("uh", "er", "hmm", "ah", "and", "but", "for me", "let me", "let's", "i'm sorry", "nope"),
        *("you can", "will you", "i think", "really", "a bit", "for now", "today", "again", "yep"),
        *("lovely", "excellent", "wonderful", "very", "much", "everything", "sure", "hey", "i"),
        *("is it possible to", "do you mind", "there", "for a second", "for a moment", "somehow"),
        *("that's fine", "that's great", "it's fine", "it's okay", "no no", "for today", "you too"),
    ),
}
CHOICE_NOISE = frozenset(
    """a an the one ones i'd i'll i would will like want take have need to go with for please and
    of in on at my me it it's that that's this is be let's do think prefer choose pick option
    number choice yes yeah ok okay um uh er well so just thanks thank you give get can could i'm
    ending ends end called named which said meant mean no not sorry actually make rather
    or""".split()
)
