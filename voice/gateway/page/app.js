// The page's driver: ties sound, connection and what is shown together, and owns the life of a call:
// idle → opening the microphone → connecting → live → hanging up → idle.

import { Connection, NO_ANSWER } from "./connection.js";
import { Decisions } from "./decisions.js";
import { Floor } from "./floor.js";
import { Inspector } from "./inspector.js";
import { RATE, Sound } from "./sound.js";
import { STEP_MS, Strip } from "./strip.js";
import { Transcript } from "./transcript.js";
import { Turns } from "./turns.js";

const at = (id) => document.getElementById(id);
const strip = new Strip(at("strip"));
const floor = new Floor(at("floor"));
const transcript = new Transcript(at("lines"), at("conversation-scroll"), at("empty"));
const turns = new Turns(at("turns").tBodies[0], at("turns-scroll"), at("typical"));
const decisions = new Decisions(at("decisions"), at("decisions-scroll"));
const inspector = new Inspector(at("tools").tBodies[0], at("offered"), (payload) => {
  call?.connection?.say({ type: "tap", payload });
});
let call = null;   // {connection, sound, since, timer}

// ------------------------------------------------------------------ what is shown of the call

function status(text, state) {
  at("status").textContent = text;
  at("status").dataset.state = state;
}

function enableInputs(live) {
  at("text").disabled = !live;
  for (const button of document.querySelectorAll("#typed button, #keypad button")) button.disabled = !live;
}

function showControls({ live, microphone = false, inputs = false }) {
  const focused = document.activeElement;
  enableInputs(live && inputs);
  at("call").hidden = live;
  at("silent").hidden = true;
  at("mute").hidden = !microphone;
  at("hangup").hidden = !live;
  // What is hidden or disabled loses the focus, and with it the place of whoever works by keyboard.
  if (focused?.hidden || focused?.disabled) at(live ? "hangup" : "call").focus();
}

function tick() {
  strip.tick();
  decisions.tick();
  const passed = Math.floor((performance.now() - call.since) / 1000);
  const text = `${Math.floor(passed / 60)}:${String(passed % 60).padStart(2, "0")}`;
  if (at("timer").textContent !== text) at("timer").textContent = text;
}

function onEvent(event) {
  switch (event.event) {
    case "caller_said": transcript.caller(event); break;
    case "agent_said": transcript.agent(event); break;
    case "turn_started":
      strip.endHold("release");   // of a line that was at its end when they began
      transcript.turnStarted(event);
      turns.started(event);
      break;
    case "say_started": transcript.heard(event, turns.heard(event)); break;
    case "suppressed": transcript.suppressed(event); break;
    case "reopened": transcript.reopened(event); break;
    case "key": if (event.reason === "pressed") transcript.key(event); break;
    case "filler": transcript.fills(event); break;
    case "hang_up": transcript.callEnds(); break;
    case "hold": if (event.audible) strip.hold(); break;
    case "release": strip.endHold("release"); break;
    case "commit": strip.endHold("commit"); break;
    default: break;
  }
  floor.add(event);
  decisions.add(event);
  inspector.add(event);
}

// ------------------------------------------------------------------ the life of a call

function describe(error) {
  switch (error.name) {
    case "NotAllowedError": return "The microphone is blocked. Allow it for this page, then start again.";
    case "NotFoundError": return "No microphone was found. Plug one in, then start again.";
    case "NetworkError": return NO_ANSWER;
    case "NotReadableError": return "The microphone is in use by another program.";
    default: return `The sound could not be opened (${error.name}).`;
  }
}

async function openSound(mine, microphone) {
  if (microphone && !navigator.mediaDevices) {
    return "Browsers give the microphone to secure pages only: open this one by https, or on localhost.";
  }
  try {
    mine.sound = await Sound.open({
      microphone,
      onFrame: (frame, rms) => { mine.connection?.sound(frame); strip.level("caller", rms); },
      onMark: (name, cleared) => mine.connection?.say({ type: "mark", name, ...(cleared && { cleared }) }),
      onLevel: (rms) => strip.level("agent", rms),
      onLost: () => hangUp("The microphone is gone; the call has ended.", "error"),
    });
    return null;
  } catch (error) {
    return describe(error);
  }
}

async function start(microphone) {
  if (call) return;
  const mine = { connection: null, sound: null, since: 0, timer: 0, bye: null };
  call = mine;
  for (const part of [transcript, turns, decisions, strip, inspector]) part.reset();
  showControls({ live: true, microphone });
  status(microphone ? "Opening the microphone …" : "Connecting …", "idle");
  const refused = await openSound(mine, microphone);
  if (call !== mine) {   // hung up while the browser asked for the microphone
    mine.sound?.close();
    return;
  }
  if (refused) {
    end(mine, refused, "error");
    at("silent").hidden = false;
    return;
  }
  status("Connecting …", "idle");
  mine.connection = new Connection(RATE, {
    onStarted: () => started(mine, microphone),
    onSound: (buffer) => mine.sound?.play(buffer),
    onMark: (name) => mine.sound?.mark(name),
    onClear: () => mine.sound?.clear(),
    onEvent,
    onError: (message) => decisions.add({ event: "problem", ...message }),
    onClose: (clean, text) => end(mine, text, clean ? "idle" : "error"),
  });
}

function started(mine, microphone) {
  status("Connected", "live");
  floor.start(!microphone);
  showControls({ live: true, microphone, inputs: true });
  mine.since = performance.now();
  at("timer").hidden = false;
  mine.timer = setInterval(tick, STEP_MS);
}

// Silence at once; the server's last words about the call are waited for.
function hangUp(text = "You hung up.", state = "idle") {
  if (!call) return;
  if (!call.connection) { end(call, text, state); return; }
  call.bye = { text, state };
  silence(call);
  status("Hanging up …", "idle");
  call.connection.stop();
}

function silence(which) {
  which.sound?.close();
  which.sound = null;
}

function end(which, text, state) {
  if (call !== which) return;
  call = null;
  clearInterval(which.timer);
  silence(which);
  turns.missed();
  decisions.ended();
  inspector.offer([]);
  strip.end();
  floor.reset("The call is over");
  at("mute").setAttribute("aria-pressed", "false");
  showControls({ live: false });
  status(which.bye?.text ?? text, which.bye?.state ?? state);
}

// ------------------------------------------------------------------ what the caller does

at("call").addEventListener("click", () => start(true));
at("silent").addEventListener("click", () => start(false));
at("hangup").addEventListener("click", () => hangUp());
at("mute").addEventListener("click", () => {
  const muted = at("mute").getAttribute("aria-pressed") !== "true";
  at("mute").setAttribute("aria-pressed", String(muted));
  call?.sound?.mute(muted);
});
at("typed").addEventListener("submit", (e) => {
  e.preventDefault();
  const text = at("text").value.trim();
  if (text) call?.connection?.say({ type: "text", text });
  at("text").value = "";
});
at("keypad").addEventListener("click", (e) => {
  const button = e.target.closest("button");
  if (button) call?.connection?.say({ type: "key", key: button.dataset.key ?? button.textContent });
});
addEventListener("keydown", (e) => { if (e.key === "Escape" && !e.isComposing) hangUp(); });
addEventListener("pagehide", () => { if (call) { silence(call); call.connection?.drop(); } });
