// The chat. HTML enters the page in one place only, `written`, and only as the server rendered it.
import { sources } from "./sources.js";
import { Trouble, events, post } from "./stream.js";
import { country, el, icon } from "./words.js";

const policy = globalThis.trustedTypes?.createPolicy("ombud", { createHTML: (html) => html }) ?? { createHTML: (html) => html };
const written = (node, html) => { node.innerHTML = policy.createHTML(html); return node; };

const $ = (id) => document.getElementById(id);
const log = $("log"), hello = $("hello"), box = $("question"), send = $("send"), trouble = $("trouble");
const pickers = { country: $("country"), role: $("role"), persona: $("persona") };
let conversation = null, turns = [], asking = null, last = "";

const store = (area, key, value) => { try { value == null ? area.removeItem(key) : area.setItem(key, value); } catch { /* private mode */ } };
const stored = (area, key) => { try { return area.getItem(key); } catch { return null; } };
const say = (text) => { $("say").textContent = text; };

// Who asks ----------------------------------------------------------------------------------------

for (const option of pickers.country.options) if (option.value) option.textContent = country(option.value);
for (const [key, picker] of Object.entries(pickers)) {
  if (!picker) continue;
  const kept = stored(localStorage, key);
  if ([...picker.options].some((option) => option.value === kept)) picker.value = kept;
  picker.addEventListener("change", () => {
    store(localStorage, key, picker.value);
    fresh(turns.at(-1)?.question);
    say(`New conversation. ${picker.selectedOptions[0].textContent}.`);
  });
}
const person = () => ({ country: pickers.country.value || null, roles: pickers.role?.value ? [pickers.role.value] : [], ...(pickers.persona && { persona: pickers.persona.value }) });

// What was said -----------------------------------------------------------------------------------

function kind({ outcome, action, claims }) {
  if (action === "handoff") return ["person", "Needs a person"];
  if (action === "clarify") return ["ask", "Tell me a little more"];
  if (outcome === "full") return ["full", "Answered"];
  if (outcome === "partial") return ["partial", "Partly answered"];
  if (action === "contact" && claims.length > 0) return ["partial", "Not sure"];
  return action === "contact" ? ["none", "Not in the documents"] : ["outside", "Outside what I cover"];
}

const button = (text, name, act, extra = {}) => el("button", { type: "button", class: "plain", click: act, ...extra }, name && icon(name), el("span", {}, text));

function begin(question) {
  hello.hidden = true;
  $("new").hidden = false;
  const status = el("p", { class: "working" }, el("span", { class: "dots", "aria-hidden": "true" }, el("i"), el("i"), el("i")), el("span", {}, "Searching the documents"));
  const body = el("div", { class: "body" });
  const reply = el("div", { class: "reply" }, status, body);
  const turn = el("article", { class: "turn" }, el("h2", { class: "asked", dir: "auto" }, el("span", { class: "vh" }, "You asked: "), question), reply);
  log.append(turn);
  log.scrollTop = turn.offsetTop;
  return { turn, reply, body, status };
}

function finish({ reply, body, status }, answer, html, { quiet = false } = {}) {
  status.remove();
  written(body, html);
  const [name, label] = kind(answer);
  reply.prepend(el("p", { class: `badge ${name}` }, icon(name), label));
  const open = (number, opener) => sources(answer, number, opener, person());
  for (const cite of body.querySelectorAll(".cite")) cite.addEventListener("click", () => open(Number(cite.dataset.n), cite));
  const doubtful = answer.claims.filter((claim) => claim.verdict === "unconfirmed").length;
  const chips = answer.suggestions.length > 0 && el("div", { class: "chips" }, ...answer.suggestions.map((text) => el("button", { type: "button", class: "chip", "data-ask": text }, text)));
  reply.append(...[
    answer.action === "clarify" && chips,
    doubtful && el("p", { class: "doubt" }, `${doubtful === 1 ? "One sentence" : `${doubtful} sentences`} of this answer could not be confirmed word by word. Check the sources.`),
    contacts(answer),
    origins(answer, open),
    unsure(answer),
    everyone(answer),
    actions(answer),
    answer.action !== "clarify" && chips,
  ].filter(Boolean));
  if (quiet) return;
  const spoken = body.cloneNode(true);
  for (const cite of spoken.querySelectorAll(".cite")) cite.remove();
  say(`${label}. ${spoken.textContent}`);
}

function contacts({ contacts: people, action }) {
  if (!people.length || !["contact", "handoff"].includes(action)) return null;
  const one = ({ name, topic, mail, phone }) => el("li", {},
    el("p", {}, el("b", {}, name), topic && topic !== "general" && el("span", { class: "mute" }, ` · ${topic.replaceAll("-", " ")}`)),
    mail && el("a", { href: `mailto:${mail}` }, icon("mail"), mail),
    phone && el(...(/^[+\d][\d ().\/-]{5,}$/.test(phone) ? ["a", { href: `tel:${phone.replace(/[^+\d]/g, "")}` }] : ["span", { class: "phone" }]), icon("phone"), phone));
  return el("section", { class: "contacts" }, el("h3", {}, action === "handoff" ? "Talk to a person" : "Who can help"), el("ul", {}, ...people.map(one)));
}

function unsure({ contacts: [person], action }) {
  if (!person || action !== "none") return null;
  const { name, mail, phone } = person, link = mail ? el("a", { href: `mailto:${mail}` }, mail) : phone;
  return el("p", { class: "unsure" }, "Still unsure? Ask ", name, link && ": ", link);
}

// Without a country only global rules speak; say so where that may be why an answer is thin.
function everyone({ outcome, action }) {
  if (pickers.country.value || pickers.country.options.length < 2 || action === "handoff" || (outcome === "denied" && action === "none")) return null;
  return el("p", { class: "unsure" }, "Only global rules were looked at. ", el("button", { type: "button", class: "link", click: () => pickers.country.focus() }, "Choose your country"), " for local ones.");
}

// The answer ends with its sources, most relevant first; one kept from before there was a list has none.
function origins({ sources: found = [] }, open) {
  if (!found.length) return null;
  return el("div", { class: "chips origins", role: "group", "aria-label": "Sources of this answer" }, ...found.map(({ title, covers, also_in: copies = [], citations: [first] }) =>
    el("button", { type: "button", class: "chip", click: (event) => open(first + 1, event.currentTarget) }, icon("doc"), el("span", {}, title, covers && el("span", { class: "mute" }, ` · ${covers}`), copies.length > 0 && el("span", { class: "mute" }, ` · also in ${copies.map((copy) => copy.title).join(", ")}`)))));
}

function actions(answer) {
  const copied = async (event) => {
    const at = event.currentTarget, span = at.querySelector("span");
    const list = answer.citations.map((citation, index) => `[${index + 1}] ${citation.title}${citation.page ? `, page ${citation.page}` : ""} (${citation.uri})`);
    await navigator.clipboard.writeText([answer.text, list.join("\n")].filter(Boolean).join("\n\n"));
    span.textContent = "Copied";
    say("Copied");
    setTimeout(() => { span.textContent = "Copy"; }, 2000);
  };
  return el("div", { class: "acts" }, button("Copy", "copy", copied, { "aria-label": "Copy the answer" }), how(answer.trace ?? {}));
}

function how({ queries = [], signals = {}, evidence = [], seconds = {}, model = "", degraded = [], notes = [] }) {
  const total = seconds.total ?? Object.values(seconds).reduce((sum, one) => sum + one, 0);
  const searched = [...new Set(queries.map((query) => query.text))].map((text) => el("q", {}, text));
  const rows = [
    searched.length && ["Searched for", ...searched],
    evidence.length && ["Read", `${evidence.length} passage${evidence.length === 1 ? "" : "s"}`],
    signals.confidence != null && ["Confidence", `${Math.round(signals.confidence * 100)} %`],
    ["Written by", model || "the documents themselves, no language model"],
    total && ["Took", total < 0.1 ? "less than 0.1 seconds" : `${total.toFixed(1)} seconds`],
    degraded.length && ["Done without", degraded.join(", ")],
    notes.length && ["Notes", notes.join(" ")],
  ].filter(Boolean);
  return el("details", { class: "how" }, el("summary", {}, "How was this found?"),
    el("dl", {}, ...rows.map(([term, ...said]) => el("div", {}, el("dt", {}, term), el("dd", {}, ...said)))));
}

// Asking ------------------------------------------------------------------------------------------

const steps = { wait: "Waiting for a free place", search: "Searching the documents", compose: "Writing the answer", verify: "Checking every sentence" };

async function open() {
  conversation ??= (await (await post("/api/v1/conversations", { person: person() }, asking.signal)).json()).id;
}

async function* answered(question) {
  for (let again = true; ; again = false) {
    await open();
    try {
      yield* events("/chat/ask", { question, person: person(), conversation_id: conversation }, asking.signal);
      return;
    } catch (error) {
      if (!(again && error.status === 404)) throw error; // a conversation that the server no longer has
      conversation = null;
    }
  }
}

async function ask(question) {
  if (asking) return;
  asking = new AbortController();
  const mine = asking;
  busy(true);
  trouble.hidden = true;
  last = question;
  box.value = "";
  keep();
  const shown = begin(question);
  say("Searching the documents");
  try {
    for await (const [name, data] of answered(question)) {
      if (name === "status") shown.status.lastChild.textContent = steps[data.step] ?? shown.status.lastChild.textContent;
      else if (name === "claim") place(shown.body, data);
      else if (name === "error") throw new Trouble(data.detail, data.hint, data.status);
      else if (name === "answer") {
        const { html, ...answer } = data;
        finish(shown, answer, html);
        turns.push({ question, answer: { ...answer, trace: { ...answer.trace, rankings: [] } } });
        save();
      }
    }
  } catch (error) {
    if (mine !== asking) return; // another conversation has begun
    if (error.name === "AbortError") stopped(shown, question);
    else failed(shown, question, error);
  } finally {
    if (mine === asking) { asking = null; busy(false); }
  }
}

// A claim that was written anew takes the place of the first one.
function place(body, { index, html }) {
  const said = written(el("div", { class: "claim" }), html), old = body.children[index];
  if (old) old.replaceWith(said); else body.append(said);
}

function stopped({ reply, status }, question) {
  status.remove();
  reply.append(el("p", { class: "mute" }, "Stopped."), el("div", { class: "acts" }, button("Ask again", "", (event) => { event.currentTarget.closest(".turn").remove(); ask(question); })));
  say("Stopped");
}

// The question goes back into the box, so that nothing typed is lost.
function failed({ turn }, question, error) {
  turn.remove();
  if (!turns.length) hello.hidden = false;
  if (!box.value.trim()) box.value = question;
  keep();
  trouble.firstElementChild.textContent = error instanceof Trouble ? [error.message, error.hint].filter(Boolean).join(" ") : "Something went wrong on this page.";
  trouble.hidden = false;
  if (!(error instanceof Trouble)) console.error(error);
}

function busy(on) {
  send.replaceChildren(icon(on ? "stop" : "send"));
  send.setAttribute("aria-label", on ? "Stop" : "Send");
  log.setAttribute("aria-busy", on);
}

// A conversation ends, another begins; `again` is a question worth asking once more -----------------

function fresh(again) {
  asking?.abort();
  asking = null;
  busy(false);
  conversation = null;
  turns = [];
  sources.close();
  for (const turn of log.querySelectorAll(".turn")) turn.remove();
  for (const old of hello.querySelectorAll(".once")) old.remove();
  if (again) hello.querySelector("ul")?.prepend(el("li", { class: "once" }, el("button", { type: "button", class: "sample", "data-ask": again }, el("span", {}, again), icon("next"))));
  hello.hidden = false;
  $("new").hidden = true;
  trouble.hidden = true;
  save();
}

const keep = () => store(sessionStorage, "draft", box.value || null);
const save = () => store(sessionStorage, "conversation", turns.length ? JSON.stringify({ conversation, turns, person: person() }) : null);

async function restore() {
  box.value = stored(sessionStorage, "draft") ?? "";
  const kept = JSON.parse(stored(sessionStorage, "conversation") ?? "null");
  if (!kept || JSON.stringify(kept.person) !== JSON.stringify(person())) return;
  for (const { question, answer } of kept.turns) {
    const { html } = await (await post("/chat/render", { text: answer.text, citations: answer.citations })).json();
    finish(begin(question), answer, html, { quiet: true });
  }
  ({ conversation, turns } = kept);
}

// What people do ----------------------------------------------------------------------------------

$("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  if (asking) asking.abort();
  else if (box.value.trim()) ask(box.value.trim());
  else box.focus();
});
box.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  if (!asking && box.value.trim()) ask(box.value.trim());
});
box.addEventListener("input", () => {
  keep();
  if (CSS.supports("field-sizing", "content")) return;
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight}px`;
});
$("new").addEventListener("click", () => { fresh(); box.focus(); });
$("again").addEventListener("click", () => ask(box.value.trim() || last));
document.addEventListener("click", (event) => {
  const chosen = event.target.closest("[data-ask]");
  if (chosen) { ask(chosen.dataset.ask); box.focus({ preventScroll: true }); }
});
restore().catch(() => store(sessionStorage, "conversation", null));
