// A person takes over: what the employee sees of it, between the questions and above the box.
import { clock, day, el, icon, t } from "./words.js";

const wait = (seconds) => (seconds == null ? "" : ` · ${seconds < 90 ? t("thread.about_a_minute") : t("thread.about_minutes", { count: Math.round(seconds / 60) })}`);

const sentences = (...all) => all.filter(Boolean).join(" ");

// What happened, in a line; nothing for what is shown elsewhere.
function line({ kind, name, minutes, contact, opens, by, reason, consent, state, score }) {
  switch (kind) {
    case "handoff": return consent != null ? t("thread.ticket_sent") : t("thread.asked_for_person");
    case "joined": return t("thread.joined", { name });
    case "left": return name ? t("thread.left", { name }) : t("thread.someone_left");
    case "transferred": return t("thread.transferred");
    case "ended": if (by === "desk" && reason === "lost") return t("thread.connection_lost");
      return by === "user" ? t("thread.person_not_needed") : t("thread.person_ended");
    case "closed": return t("thread.closed");
    case "rating": return score ? t("thread.rated", { score }) : "";
    case "unclaimed": return sentences(minutes ? t("thread.unclaimed_for", { count: minutes }) : t("thread.unclaimed"), contact && t("thread.or_contact", { contact }));
    case "out_of_hours": return sentences(t("thread.out_of_hours"), opens && t("thread.back_on", { day: day(opens, { weekday: "long", hour: "2-digit", minute: "2-digit" }) }), t("thread.leave_message"));
    case "delivery": return state === "parked" ? t("thread.ticket_kept") : "";
    default: return "";
  }
}

export const notice = (event) => { const said = line(event); return said && el("p", { class: "event", "data-kind": event.kind }, said, " ", el("time", { class: "mute" }, clock(event.at))); };

// Where tickets can be written: whether it becomes one, and what the people there may read.
export function choice(team, isAlone, send) {
  const agree = el("input", { type: "checkbox" });
  const pick = (text, isTicket) => el("button", { type: "button", class: "plain", click: () => { form.remove(); send({ ticket: isTicket, consent: agree.checked }); } }, text);
  const form = el("form", { class: "event", "aria-label": t("thread.talk_to_person") },
    el("label", {}, agree, ` ${t("thread.ticket_consent", { team })}`), " ",
    !isAlone && pick(t("thread.talk_to_person"), false), pick(t("thread.ticket_write", { team }), true), el("button", { type: "button", class: "plain", click: () => form.remove() }, t("thread.cancel")));
  queueMicrotask(() => agree.focus());
  return form;
}

// A message of the advisor, or one of one's own to them.
export function bubble({ by, text, name, at, key, links = [] }, state = "") {
  const mine = by === "user", who = name || (by === "desk" ? t("thread.automatic_message") : t("thread.advisor"));
  return el("div", { class: mine ? "said mine" : "said", "data-key": key || null },
    !mine && el("p", { class: "who" }, icon("person"), who),
    (text || !links.length) && el("p", { class: "words", dir: "auto" }, el("span", { class: "vh" }, t("thread.says", { who: mine ? t("thread.you") : who }), " "), text),
    ...links.map(({ note, url }) => el("p", { class: "words", dir: "auto" }, url ? el("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, note) : note)),
    el("p", { class: "state mute" }, state || (at ? clock(at) : "")));
}

// Asked once, when a conversation with a person has ended; `send` gets a score from 1 to 5, or null.
export function question(send) {
  const score = (number) => el("label", {}, el("input", { type: "radio", name: "score", value: String(number), required: true }), ` ${number}`);
  const words = el("textarea", { rows: 2, maxlength: 2000 });
  return el("form", { class: "event rating", submit: (event) => { event.preventDefault(); send(Number(new FormData(event.target).get("score")), words.value); } },
    el("fieldset", {}, el("legend", {}, t("thread.rate_person")), el("span", {}, t("thread.rate_worst")), ...[1, 2, 3, 4, 5].map(score), el("span", {}, t("thread.rate_best"))),
    el("label", {}, t("thread.comment"), words),
    el("div", { class: "acts" }, el("button", { class: "plain" }, t("thread.rate_send")), el("button", { type: "button", class: "plain", click: () => send(null, "") }, t("thread.rate_not"))));
}

function address(mail) {
  const to = el("input", { type: "email", required: true, autocomplete: "email", placeholder: t("thread.your_address"), "aria-label": t("thread.your_address") });
  const form = el("form", { submit: async (event) => { event.preventDefault(); form.replaceWith(el("span", { class: "mute" }, await mail(to.value))); } }, to, el("button", { class: "plain" }, t("thread.send")));
  queueMicrotask(() => to.focus());
  return form;
}

// The bar above the box: how it stands, and the way out.
export function bar(node, { askPerson, takeBack, transcript, mail }) {
  let shown = "";
  const act = (text, click) => el("button", { type: "button", class: "plain", click }, text);
  return {
    typing(on, name) { node.querySelector(".types")?.replaceChildren(on ? (name ? t("thread.is_writing", { name }) : t("thread.someone_writing")) : ""); },
    show(session) {
      const { state, position, wait_seconds: seconds, advisor } = session ?? { state: "bot" };
      const now = JSON.stringify([state, position, seconds, advisor, session?.is_ticket, session?.last > 0]);
      if (now === shown) return "";
      shown = now;
      const types = el("span", { class: "types mute" });
      const place = session?.is_ticket ? t("thread.ticket_waiting") : position ? t("thread.queue_number", { position }) + wait(seconds) : seconds ? t("thread.in_queue") + wait(seconds) : t("thread.waiting_for_person");
      const said = { queued: place, live: advisor ? t("thread.with_you", { name: advisor }) : t("thread.someone_with_you"), returned: t("thread.assistant_back") }[state] ?? "";
      node.hidden = !said;
      node.replaceChildren(...(said ? [el("span", { class: "dot", "aria-hidden": "true" }), el("b", {}, said), types, el("span", { class: "grow" }),
        state === "returned" ? act(t("thread.keep_copy"), transcript) : null,
        state === "returned" && "mail" in node.dataset ? act(t("thread.email_copy"), ({ currentTarget: asked }) => asked.replaceWith(address(mail))) : null,
        state === "returned" ? act(t("thread.ask_person_again"), askPerson) : act(state === "live" ? t("thread.end") : t("thread.no_longer_needed"), takeBack)].filter(Boolean) : []));
      node.dataset.state = state;
      return said;
    },
  };
}
