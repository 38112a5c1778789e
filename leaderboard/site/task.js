// What the header says about the task, and how to take part.

import { dateAndTime, whole } from "./columns.js";
import { byId, element, link, setText } from "./elements.js";

const UNKNOWN = "und"; // ISO 639-2: undetermined

function languageName(code) {
  try {
    return new Intl.DisplayNames(["en"], { type: "language" }).of(code) ?? code;
  } catch {
    return code;
  }
}

// Returns the title and the languages of a task, as far as they are known.
export function taskLine(task) {
  if (!task) return "";
  const known = task.source !== UNKNOWN && task.target !== UNKNOWN;
  const languages = known ? `${languageName(task.source)} → ${languageName(task.target)}` : "";
  return [task.title, languages].filter(Boolean).join(" · ");
}

// Returns when a phase opens or closes.
function deadline(info, state) {
  const now = Date.now();
  const [opens, closes] = [info?.opens_at, info?.closes_at].map((text) => (text ? Date.parse(text) : null));
  if (opens && opens > now) return `opens ${dateAndTime(opens)}`;
  if (closes) return `${closes > now ? "closes" : "closed"} ${dateAndTime(closes)}`;
  return state === "closed" ? "" : "no deadline";
}

// Shows state, length and deadline of a phase.
export function showPhase(board, task) {
  const info = task?.phases.find((phase) => phase.phase === board.phase);
  const feedback = board.feedback === "post-edit" ? "post-edits" : "bandit feedback";
  const words = [deadline(info, board.state), `${whole(board.total)} rounds`, feedback].filter(Boolean);
  const chips = [element("span", { class: `state ${board.state}` }, board.state), ...words.map((word) => element("span", {}, word))];
  if (byId("subtitle").textContent !== chips.map((chip) => chip.textContent).join("")) byId("subtitle").replaceChildren(...chips);
}

// Returns the commands by which a system plays a phase of this service.
export function playCommands(phase) {
  const address = new URL(".", location.href).href.replace(/\/$/, "");
  return [
    "pip install ./client_sdk    # in a copy of the banditmt repository",
    `export BANDITMT_URL=${address} BANDITMT_API_KEY=...`,
    `banditmt-play --phase ${phase} --system my-system -- ./translate.sh`,
  ].join("\n");
}

// Fills the dialog that says how to take part.
export function showParticipation(task, phase) {
  setText(byId("part-commands"), playCommands(phase));
  const contact = task?.contact;
  const address = /^[^\s@]+@[^\s@]+$/.test(contact ?? "") ? element("a", { href: `mailto:${contact}` }, contact) : link(contact ?? "", contact);
  byId("part-contact").replaceChildren(contact ? "Ask the organiser for an API key: " : "Ask the organiser for an API key.", contact ? address : "");
  const files = task?.out_of_domain;
  const where = files?.url ?? files?.files.find((file) => file.url)?.url;
  const text = files ? "There is out-of-domain text to train a system on before it plays" : "This task has no out-of-domain text to train on";
  byId("part-text").replaceChildren(text, where && /^https?:/.test(where) ? ": " : ".", where && /^https?:/.test(where) ? link(where, where) : "");
  byId("part-text").hidden = !task;
  setText(byId("part-licence"), task?.licence ? `Licence of the text: ${task.licence}.` : "");
}
