// The page's driver: ties sound, connection, transcript, strip and the list of decisions together.

import { Connection } from "./connection.js";
import { Decisions } from "./decisions.js";
import { Sound } from "./sound.js";
import { Strip } from "./strip.js";
import { Transcript } from "./transcript.js";

const at = (id) => document.getElementById(id);
const strip = new Strip(at("strip"));
const transcript = new Transcript(at("lines"), at("empty"));
const decisions = new Decisions(at("decisions"), at("turns").tBodies[0]);
let call = null;   // {connection, sound, muted}
let animation = 0;

function status(text, state) {
  at("status").textContent = text;
  at("status").dataset.state = state;
}

function enable(live) {
  at("call").disabled = live;
  for (const id of ["mute", "hangup", "text"]) at(id).disabled = !live;
  at("typed").querySelector("button").disabled = !live;
}

function animate() {
  strip.tick();
  animation = requestAnimationFrame(animate);
}

function onEvent(event) {
  switch (event.event) {
    case "caller_said": transcript.caller(event.text, event.final); break;
    case "agent_said": transcript.agent(event); break;
    case "say_started": transcript.agentStarted(event.say); break;
    case "hold": strip.hold(); status("Holding: is that you?", "held"); break;
    case "release": strip.endHold("release"); status("Connected", "live"); break;
    case "commit": strip.endHold("commit"); status("Listening to you", "live"); break;
    case "turn_started": status("Connected", "live"); break;
    default: break;
  }
  decisions.add(event);
}

function describe(error) {
  if (error.name === "NotAllowedError") return "The microphone is blocked. Allow it for this page and start again.";
  if (error.name === "NotFoundError") return "No microphone was found. You can still type once one is there.";
  return `The sound could not be opened (${error.name}).`;
}

async function start() {
  enable(true);
  status("Opening the microphone …", "idle");
  transcript.reset();
  decisions.reset();
  strip.reset();
  const mine = { connection: null, sound: null };
  call = mine;
  try {
    mine.sound = await Sound.open({
      onFrame: (frame, rms) => { mine.connection?.sound(frame); strip.level("caller", rms); },
      onMark: (name, cleared) => mine.connection?.say(cleared
        ? { type: "mark", name, cleared } : { type: "mark", name }),
      onLevel: (rms) => strip.level("agent", rms),
    });
  } catch (error) {
    enable(false);
    call = null;
    status(describe(error), "error");
    return;
  }
  if (call !== mine) {   // hung up while the browser asked for the microphone
    mine.sound.close();
    return;
  }
  status("Connecting …", "idle");
  mine.connection = new Connection({
    onStarted: () => status("Connected", "live"),
    onSound: (buffer) => mine.sound.play(buffer),
    onMark: (name) => mine.sound.mark(name),
    onClear: () => mine.sound.clear(),
    onEvent,
    onError: (message) => decisions.add({ event: "problem", ...message }),
    onClose: (clean, text) => end(mine, text, clean ? "idle" : "error"),
  });
  animate();
}

function end(which, text, state) {
  if (call !== which) return;
  call = null;
  cancelAnimationFrame(animation);
  which.sound?.close();
  which.connection?.close();
  at("mute").setAttribute("aria-pressed", "false");
  enable(false);
  status(text, state);
  at("call").focus();
}

at("call").addEventListener("click", start);
at("hangup").addEventListener("click", () => end(call, "You hung up.", "idle"));
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
  if (e.target.tagName === "BUTTON") call?.connection?.say({ type: "key", key: e.target.textContent });
});
addEventListener("keydown", (e) => { if (e.key === "Escape" && call) end(call, "You hung up.", "idle"); });
addEventListener("pagehide", () => call && end(call, "You hung up.", "idle"));
