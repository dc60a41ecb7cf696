// A person takes over: what the employee sees of it, between the questions and above the box.
import { el, icon } from "./words.js";

const clock = (iso) => new Date(iso).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
const day = (iso) => new Date(iso).toLocaleString([], { weekday: "long", hour: "2-digit", minute: "2-digit" });
const wait = (seconds) => (seconds == null ? "" : seconds < 90 ? " · about a minute" : ` · about ${Math.round(seconds / 60)} minutes`);

// What happened, in a line; nothing for what is shown elsewhere.
function line({ kind, name, minutes, contact, opens, by, reason }) {
  switch (kind) {
    case "handoff": return "You asked for a person. You can go on asking me while you wait.";
    case "joined": return `${name} has joined.`;
    case "left": return `${name || "The advisor"} has left. Somebody else will take over.`;
    case "transferred": return "You are being passed on to somebody else. Nothing needs to be said again.";
    case "ended": if (by === "desk" && reason === "lost") return "The connection to the person was lost. You can ask for a person again: they will read everything that was written here.";
      return by === "user" ? "You no longer need a person. I am back." : "The conversation with a person has ended. I am back; ask me anything.";
    case "closed": return "This conversation is closed.";
    case "unclaimed": return `Nobody has taken this ${minutes ? `in ${minutes} minutes` : "yet"}. You are still waiting.${contact ? ` You can also turn to ${contact}.` : ""}`;
    case "out_of_hours": return `Nobody is there at the moment.${opens ? ` Advisors are back on ${day(opens)}; your place is kept.` : ""}`;
    default: return "";
  }
}

export const notice = (event) => { const said = line(event); return said && el("p", { class: "event", "data-kind": event.kind }, said, " ", el("time", { class: "mute" }, clock(event.at))); };

// A message of the advisor, or one of one's own to them.
export function bubble({ by, text, name, at, key, links = [] }, state = "") {
  const mine = by === "user", who = name || (by === "desk" ? "Automatic message" : "Advisor");
  return el("div", { class: mine ? "said mine" : "said", "data-key": key || null },
    !mine && el("p", { class: "who" }, icon("person"), who),
    (text || !links.length) && el("p", { class: "words", dir: "auto" }, el("span", { class: "vh" }, mine ? "You: " : `${who}: `), text),
    ...links.map(({ note, url }) => el("p", { class: "words", dir: "auto" }, url ? el("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, note) : note)),
    el("p", { class: "state mute" }, state || (at ? clock(at) : "")));
}

function address(mail) {
  const to = el("input", { type: "email", required: true, autocomplete: "email", placeholder: "Your address", "aria-label": "Your address" });
  const form = el("form", { submit: async (event) => { event.preventDefault(); form.replaceWith(el("span", { class: "mute" }, await mail(to.value))); } }, to, el("button", { class: "plain" }, "Send"));
  queueMicrotask(() => to.focus());
  return form;
}

// The bar above the box: how it stands, and the way out.
export function bar(node, { askPerson, takeBack, transcript, mail }) {
  let shown = "";
  const act = (text, click) => el("button", { type: "button", class: "plain", click }, text);
  return {
    typing(on, name) { node.querySelector(".types")?.replaceChildren(on ? `${name || "The advisor"} is writing …` : ""); },
    show(session) {
      const { state, position, wait_seconds: seconds, advisor } = session ?? { state: "bot" };
      const now = JSON.stringify([state, position, seconds, advisor, session?.last > 0]);
      if (now === shown) return "";
      shown = now;
      const types = el("span", { class: "types mute" });
      const place = position ? `You are number ${position} in the queue${wait(seconds)}` : seconds ? `You are in the queue${wait(seconds)}` : "Waiting for a person";
      const said = { queued: place, live: `${advisor || "An advisor"} is with you`, returned: "The assistant is back" }[state] ?? "";
      node.hidden = !said;
      node.replaceChildren(...(said ? [el("span", { class: "dot", "aria-hidden": "true" }), el("b", {}, said), types, el("span", { class: "grow" }),
        state === "returned" ? act("Keep a copy", transcript) : null,
        state === "returned" && "mail" in node.dataset ? act("Mail me a copy", ({ currentTarget: asked }) => asked.replaceWith(address(mail))) : null,
        state === "returned" ? act("Ask for a person again", askPerson) : act(state === "live" ? "End" : "No longer needed", takeBack)].filter(Boolean) : []));
      node.dataset.state = state;
      return said;
    },
  };
}
