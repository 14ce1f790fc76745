// From the events of docs/events.md to plain words. Owns the wording only; which lines are shown
// together is decisions.js.

import { plain, quote, short } from "./words.js";

const RELEASED = {
  backchannel: "backchannel",
  not_confirmed: "it was no speech",
  no_words: "no words in it",
  no_answer: "no words came in time",
  noise: "noise without words",
  pause_budget: "paused long enough, no words yet",
};
const COMMITTED = {
  interrupt_word: "word",
  words: "words",
  word: "words",
  sure_word: "word",
  presence: "you asked if anyone is there:",
  kept_words: "you spoke during a line that can't be interrupted:",
  voice: "you kept talking (speech recognition is down)",
  key: "you pressed a key",
  text: "you typed",
};
const INTERRUPTED = {
  words: "you spoke", voice: "you spoke", key: "you pressed a key", text: "you typed",
  hang_up: "the call ended", agent_lost: "the agent had to be restarted",
};
const SUPPRESSED = {
  backchannel: "backchannel",
  garble: "unclear",
  echo: "the agent's own voice",
  hallucination: "nobody said that",
  more_words_than_voice: "nobody said that",
  repeats_itself: "nobody said that",
  low_confidence: "not sure enough",
  keys_only: "waiting for keys",
  late_words: "came too late",
  no_answer: "not enough to act on",
  key_instead: "you pressed a key instead",
  text_instead: "you typed instead",
};
const BEGAN = {
  opened: "the call's opening",
  speech: "your words",
  eager_end: "your words, a guess",
  keys: "your keys",
  text: "your typing",
  tap: "your choice",
  silence: "your silence",
  asked: "the agent itself",
};
const SETTLED = {
  ok: "done", failed: "failed", timed_out: "took too long", cancelled: "cancelled", unknown: "outcome unknown",
};
const ENDED_TURN = { failed: "the agent failed to answer", empty: "the agent had nothing to say" };
const FILLED = { wait: "it takes a while", presence: "you asked if anyone is there" };
const REOPENED = { more_words: "you were not done", late_words: "you were not done", speaker_resumed: "you went on" };

const said = (text) => (text ? ` ${quote(text)}` : "");

// Why a skill begins, where that is not plain from the conversation.
const STARTED = { resolver: ", which must come first", delegated: ", as part of it", called: ", as part of it" };

export const began = (reason) => BEGAN[reason] ?? plain(reason ?? "");

export const settled = (outcome) => SETTLED[outcome] ?? plain(outcome);

export function committed(event) {
  const word = event.reason === "interrupt_word" && event.text?.trim().includes(" ") ? "words" : null;
  return (word ?? COMMITTED[event.reason] ?? plain(event.reason)) + said(event.text);
}

function known(value) {
  // Arguments and results come as JSON; what can't be read is shown as it is.
  try {
    const parsed = JSON.parse(value);
    if (parsed === null || typeof parsed !== "object") return String(parsed);
    return Object.entries(parsed).filter(([, v]) => v !== "" && v !== null).map(([key, v]) => `${plain(key)}: ${typeof v === "object" ? JSON.stringify(v) : v}`).join(", ");
  } catch {
    return value ?? "";
  }
}

export function tool(event) {
  const given = known(event.text);
  return plain(event.tool) + (given ? ` (${given})` : "");
}

// {badge, text, quiet} of an event; null for what needs no line.
export function phrase(event) {
  switch (event.event) {
    case "hold":
      return event.audible
        ? { badge: "held", text: `${event.reason === "speech" ? "speech" : "voice"} ${short(event.voice_ms)}` }
        : { badge: "hears you", text: `voice ${short(event.voice_ms)}`, quiet: true };
    case "release":
      return { badge: event.audible ? "went on" : "was nothing", quiet: !event.audible,
        text: `${RELEASED[event.reason] ?? plain(event.reason)}${said(event.text)} (pause ${short(event.pause_ms)})` };
    case "commit": return { badge: "interrupted", text: committed(event) };
    case "interrupted":
      return { badge: "interrupted", text: INTERRUPTED[event.reason ?? event.cause] ?? plain(event.reason ?? event.cause ?? "") };
    case "reopened":
      return { badge: "waits on", text: (REOPENED[event.reason] ?? "you were not done") + said(event.text) };
    case "suppressed":
      return { badge: "ignored", text: (SUPPRESSED[event.reason] ?? plain(event.reason)) + said(event.text) };
    case "turn_started": {
      if (event.reason === "confirmed") return null;
      const pause = event.silence_ms ? `, then ${short(event.silence_ms)} of silence` : "";
      return { badge: `turn ${event.turn}`, text: began(event.reason) + pause };
    }
    case "turn_ended":
      return event.outcome in ENDED_TURN
        ? { badge: "problem", text: ENDED_TURN[event.outcome] } : null;
    case "filler":
      return event.text === undefined ? null
        : { badge: "fills in", text: `${quote(event.text)}, ${FILLED[event.reason] ?? plain(event.reason)}`, quiet: true };
    case "memory_set":
      return { badge: "noted", text: `${plain(event.name.split(".").pop())}: ${known(event.text)}`, quiet: true };
    case "skill_started": return { badge: "begins", text: `${plain(event.skill)}${STARTED[event.cause] ?? ""}` };
    case "skill_ended": return { badge: "ends", text: `${plain(event.skill)}: ${event.how}`, quiet: true };
    case "skill_resumed": return { badge: "goes on", text: plain(event.skill) };
    case "confirmation_asked":
      return event.say === null ? null : { badge: "asks first", text: `before ${plain(event.tool)}` };
    case "confirmation_answered": return { badge: "answer", text: `${event.confirmed ? "yes" : "no"} to ${plain(event.tool)}` };
    case "confirmation_withdrawn": return { badge: "withdrawn", text: `${plain(event.tool)}: ${event.reason}` };
    case "knowledge_searched": return { badge: "looked up", text: `${event.passages} passages`, quiet: true };
    case "send_dropped": return { badge: "not said", text: `${quote(event.text)} was waiting when you interrupted` };
    case "late_outcome": return { badge: "tool", text: `${plain(event.tool)} has ended after all: ${settled(event.outcome)}` };
    case "model_called":
      return event.outcome === "failed" ? { badge: "problem", text: `model ${event.model} failed after ${short(event.took_ms)}` } : null;
    case "key": return { badge: "key", text: `${event.text}${event.reason === "pressed" ? "" : `, ${plain(event.reason)}`}` };
    case "hang_up":
      return event.reason === "caller" ? { badge: "hung up", text: "you hung up" }
        : { badge: "hangs up", text: event.reason === "silence" ? "you were silent" : event.reason === "transfer" ? "to put you through" : "the agent ends the call" };
    case "transfer": return { badge: "transfer", text: `to ${event.target}` };
    case "problem":
      return { badge: "problem", text: [event.code ?? event.reason, event.detail].filter(Boolean).map(plain).join(": ") };
    default: return null;
  }
}
