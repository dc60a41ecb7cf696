// The chat. HTML enters the page in one place only, `written`, and only as the server rendered it.
import { asker } from "./asker.js";
import { conversations } from "./conversations.js";
import { feedback } from "./feedback.js";
import { live } from "./live.js";
import { outgoing } from "./outgoing.js";
import { bar, bubble, choice, notice, question as rating } from "./person.js";
import { sharing } from "./sharing.js";
import { documentAt, named, readDocuments, sources } from "./sources.js";
import { Trouble, events, post, send as request } from "./stream.js";
import { tidy } from "./tables.js";
import { ROOT, badge, clock, el, icon, locale, t } from "./words.js";

const policy = globalThis.trustedTypes?.createPolicy("ombud", { createHTML: (html) => html }) ?? { createHTML: (html) => html };
const written = (node, html) => { node.innerHTML = policy.createHTML(html); return node; };

const $ = (id) => document.getElementById(id);
const log = $("log"), hello = $("hello"), box = $("question"), send = $("send"), trouble = $("trouble"), undo = $("undo");
let conversation = null, asking = null, last = "", lastKey = "";
// How the conversation stands, the question whose answer is still to come, and what this tab sent itself.
let stage = "bot", session = null, pending = null, current = "", mine = new Set();

// Named, because in a frame of another site the very property may throw.
const store = (area, key, value) => { try { value == null ? window[area].removeItem(key) : window[area].setItem(key, value); } catch { /* private mode */ } };
const stored = (area, key) => { try { return window[area].getItem(key); } catch { return null; } };
const say = (text) => { $("say").textContent = text; };

// Who asks ----------------------------------------------------------------------------------------

const who = asker((what, before) => {
  fresh(last, before);
  say(t("thread.new_conversation_because", { changed: what }));
});
const { person } = who;

// What was said -----------------------------------------------------------------------------------

const button = (text, name, act, extra = {}) => el("button", { type: "button", class: "plain", click: act, ...extra }, name && icon(name), el("span", {}, text));

function begin(question) {
  hello.hidden = true;
  $("new").hidden = $("keep").hidden = false;
  const status = el("p", { class: "working" }, el("span", { class: "dots", "aria-hidden": "true" }, el("i"), el("i"), el("i")), el("span", {}, t("thread.searching")));
  const body = el("div", { class: "body" });
  const reply = el("div", { class: "reply" }, status, body);
  const edit = el("button", { type: "button", class: "quiet edit", "aria-label": t("thread.edit"), title: t("thread.edit"), click: () => reword(turn, question) }, icon("new"));
  const turn = el("article", { class: "turn" }, el("div", { class: "mine" }, edit, el("h2", { class: "asked", dir: "auto" }, el("span", { class: "vh" }, t("thread.you_asked"), " "), question)), reply);
  log.append(turn);
  log.scrollTop = turn.offsetTop;
  return { turn, reply, body, status, question };
}

// In place of the question: what is asked instead stands below, and this turn steps back.
function reword(turn, question) {
  if (asking || !["bot", "returned"].includes(stage)) return;
  const head = turn.querySelector(".mine"), words = el("textarea", { rows: 2, maxlength: 4000, "aria-label": t("thread.your_question") });
  words.value = question;
  const back = () => { form.replaceWith(head); head.querySelector("button").focus(); };
  const form = el("form", { class: "reword", keydown: (event) => { if (event.key === "Escape") back(); }, submit: (event) => {
    event.preventDefault();
    const text = words.value.trim();
    form.replaceWith(head);
    if (!text) return;
    turn.classList.add("old");
    ask(text);
  } }, words, el("button", { class: "plain" }, t("thread.ask")), el("button", { type: "button", class: "plain", click: back }, t("thread.cancel")));
  head.replaceWith(form);
  words.focus();
}

function finish({ turn, reply, body, status, question }, answer, html, { quiet = false } = {}) {
  status.remove();
  written(body, html);
  tidy(body);
  const [name, label] = badge(answer);
  reply.prepend(el("p", { class: `badge ${name}` }, icon(name), label));
  const open = (number, opener) => sources(answer, number, opener, person());
  for (const cite of body.querySelectorAll(".cite")) cite.addEventListener("click", () => open(Number(cite.dataset.n), cite));
  leadToRest(body, answer.citations);
  const doubtful = answer.claims.filter((claim) => claim.verdict === "unconfirmed").length;
  const chips = answer.suggestions.length > 0 && el("div", { class: "chips" }, ...answer.suggestions.map((text) => el("button", { type: "button", class: "chip", "data-ask": text }, text)));
  reply.append(...[
    answer.action === "clarify" && chips,
    doubtful && el("p", { class: "doubt" }, t("thread.unconfirmed", { count: doubtful })),
    offered(answer),
    contacts(answer),
    origins(answer, open),
    printed(answer),
    unsure(answer),
    everyone(answer),
    actions(answer, () => { turn.classList.add("old"); ask(question); }),
    feedback(answer),
    answer.action !== "clarify" && chips,
  ].filter(Boolean));
  if (quiet) return;
  const spoken = body.cloneNode(true);
  for (const cite of spoken.querySelectorAll(".cite")) cite.remove();
  say(`${label}. ${spoken.textContent}`);
}

// "4 more in this table." leads to the document, where the last row that is shown is in view.
function leadToRest(body, citations) {
  for (const note of body.querySelectorAll(".rest em")) {
    const last = [...body.querySelectorAll(".cite")].filter((cite) => cite.compareDocumentPosition(note) & Node.DOCUMENT_POSITION_FOLLOWING).at(-1);
    const cited = last && citations[Number(last.dataset.n) - 1];
    if (cited) note.replaceChildren(el("a", { href: documentAt(cited, citations, person()), target: "_blank", rel: "noopener" }, note.textContent, el("span", { class: "vh" }, " ", t("thread.new_tab"))));
  }
}

function contacts({ contacts: people, action }) {
  if (!people.length || !["contact", "handoff"].includes(action)) return null;
  const one = ({ name, topic, mail, phone }) => el("li", {},
    el("p", {}, el("b", {}, name), topic && topic !== "general" && el("span", { class: "mute" }, ` · ${topic.replaceAll("-", " ")}`)),
    mail && el("a", { href: `mailto:${mail}` }, icon("mail"), mail),
    phone && el(...(/^[+\d][\d ().\/-]{5,}$/.test(phone) ? ["a", { href: `tel:${phone.replace(/[^+\d]/g, "")}` }] : ["span", { class: "phone" }]), icon("phone"), phone));
  return el("section", { class: "contacts" }, el("h3", {}, action === "handoff" && $("person") ? t("thread.also_contact") : t("thread.who_can_help")), el("ul", {}, ...people.map(one)));
}

function offered({ offer, topic }) {
  if (!offer || !$("person") || !["bot", "returned"].includes(stage)) return null;
  const click = (event) => { event.currentTarget.disabled = !$("person").dataset.team; handOver(offer, topic); };
  return el("p", { class: "offer" }, !["sensitive", "asked"].includes(offer) && `${t("thread.rather_person")} `, el("button", { type: "button", class: "primary", click }, icon("person"), t("thread.talk_to_person")));
}

function unsure({ contacts: [person], action }) {
  if (!person || action !== "none") return null;
  const { name, mail, phone } = person, link = mail ? el("a", { href: `mailto:${mail}` }, mail) : phone;
  return el("p", { class: "unsure" }, t("thread.still_unsure", { name }), link && ": ", link);
}

// Without a country only global rules speak; say so where that may be why an answer is thin.
function everyone({ outcome, action, citations }) {
  const isLocal = citations.some(({ scope }) => scope === "local"); // of a country that was said, or asked for
  if (!who.isGlobal() || isLocal || ["handoff", "clarify"].includes(action) || (outcome === "denied" && action === "none")) return null;
  return el("p", { class: "unsure" }, `${t("thread.only_global")} `, el("button", { type: "button", class: "link", click: () => who.asks() }, t("thread.choose_country")));
}

// The answer ends with its sources, most relevant first; one kept from before there was a list has none.
function origins({ sources: found = [] }, open) {
  if (!found.length) return null;
  return el("div", { class: "chips origins", role: "group", "aria-label": t("thread.sources_of_answer") }, ...found.map(({ title, covers, also_in: copies = [], citations: [first] }) =>
    el("button", { type: "button", class: "chip", click: (event) => open(first + 1, event.currentTarget) }, icon("doc"), el("span", {}, title, covers && el("span", { class: "mute" }, ` · ${covers}`), copies.length > 0 && el("span", { class: "mute" }, ` · ${t("thread.also_in", { titles: copies.map((copy) => copy.title).join(", ") })}`)))));
}

// On paper, what the numbers stand for.
const printed = ({ citations }) => citations.length > 0 && el("ol", { class: "on-paper" }, ...citations.map((citation) => el("li", {}, `${named(citation)} (${citation.uri})`, el("blockquote", {}, citation.quote))));

function actions(answer, again) {
  const copied = async (event) => {
    const at = event.currentTarget, span = at.querySelector("span");
    const list = answer.citations.map((citation, index) => `[${index + 1}] ${named(citation)} (${citation.uri})`);
    await navigator.clipboard.writeText([answer.text, list.join("\n")].filter(Boolean).join("\n\n"));
    span.textContent = t("thread.copied");
    say(t("thread.copied"));
    setTimeout(() => { span.textContent = t("thread.copy"); }, 2000);
  };
  return el("div", { class: "acts" }, button(t("thread.copy"), "copy", copied, { "aria-label": t("thread.copy_answer") }), answer.action !== "handoff" && button(t("thread.ask_again"), "again", again, { class: "plain anew" }), how(answer.trace ?? {}));
}

function how({ queries = [], signals = {}, evidence = [], seconds = {}, model = "", degraded = [], notes = [] }) {
  const total = seconds.total ?? Object.values(seconds).reduce((sum, one) => sum + one, 0);
  const searched = [...new Set(queries.map((query) => query.text))].map((text) => el("q", {}, text));
  const read = el("ul", {});
  const rows = [
    searched.length && [t("thread.how_searched"), ...searched],
    evidence.length && [t("thread.how_read"), t("thread.passages_of", { count: evidence.length }), read],
    signals.confidence != null && [t("thread.how_confidence"), signals.confidence.toLocaleString(locale, { style: "percent" })],
    [t("thread.how_written_by"), model || t("thread.how_no_model")],
    total && [t("thread.how_took"), total < 0.1 ? t("thread.how_instantly") : t("thread.how_seconds", { seconds: total.toLocaleString(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 }) })],
    degraded.length && [t("thread.how_degraded"), degraded.join(", ")],
    notes.length && [t("thread.how_notes"), notes.join(" ")],
  ].filter(Boolean);
  const whose = person();
  const show = async ({ target }) => {
    if (!target.open) return;
    if (!read.hasChildNodes()) read.replaceChildren(...await readDocuments(evidence, whose));
    target.scrollIntoView({ block: "nearest" });
  };
  return el("details", { class: "how", toggle: show }, el("summary", {}, t("thread.how")),
    el("dl", {}, ...rows.map(([term, ...words]) => el("div", {}, el("dt", {}, term), el("dd", {}, ...words)))));
}

// Asking ------------------------------------------------------------------------------------------

const steps = { wait: t("thread.waiting"), search: t("thread.searching"), compose: t("thread.writing"), verify: t("thread.checking") };

async function open() {
  if (conversation) return;
  conversation = (await (await post("/api/v1/conversations", { person: person() }, asking?.signal)).json()).id;
  save();
  line.watch(conversation, 0);
}

async function* answered(question, key) {
  for (let again = true; ; again = false) {
    await open();
    try {
      yield* events("/chat/ask", { question, person: person(), ...who.day(), conversation_id: conversation, message_id: key }, asking.signal);
      return;
    } catch (error) {
      if (!(again && error.status === 404)) throw error; // a conversation that the server no longer has
      conversation = null;
    }
  }
}

async function ask(question, key = crypto.randomUUID()) {
  if (asking) return;
  if (stage === "live") { write(question); return; }
  asking = new AbortController();
  const own = asking;
  busy(true);
  trouble.hidden = true;
  last = question;
  lastKey = key;
  undo.hidden = true;
  mine.add(key);
  box.value = "";
  keep();
  const shown = begin(question);
  say(t("thread.searching"));
  try {
    for await (const [name, data] of answered(question, key)) {
      if (name === "status") shown.status.lastChild.textContent = steps[data.step] ?? shown.status.lastChild.textContent;
      else if (name === "claim") place(shown.body, data);
      else if (name === "error") throw new Trouble(data.detail, data.hint, data.status);
      else if (name === "answer") {
        const { html, ...answer } = data;
        finish(shown, answer, html);
      }
    }
  } catch (error) {
    if (own !== asking) return; // another conversation has begun
    if (error.name === "AbortError") stopped(shown, question, key);
    else if (error.status === 409 && stage === "live") { shown.turn.remove(); write(question); }
    else failed(shown, question, error);
  } finally {
    if (own === asking) { asking = null; busy(false); list.refresh(); }
  }
}

// A claim that was written anew takes the place of the first one.
function place(body, { index, html }) {
  const said = written(el("div", { class: "claim" }), html), old = body.children[index];
  if (old) old.replaceWith(said); else body.append(said);
}

function stopped({ reply, status }, question, key, why = t("thread.stopped")) {
  status.remove();
  reply.append(el("p", { class: "mute" }, why), el("div", { class: "acts" }, button(t("thread.ask_again"), "", (event) => { event.currentTarget.closest(".turn").remove(); ask(question, key); })));
  say(why);
}

// The question goes back into the box, so that nothing typed is lost.
function failed({ turn }, question, error) {
  turn.remove();
  if (!log.querySelector(".turn, .said, .event")) hello.hidden = false;
  if (!box.value.trim()) box.value = question;
  keep();
  trouble.firstElementChild.textContent = error instanceof Trouble ? [error.message, error.hint].filter(Boolean).join(" ") : t("thread.page_failed");
  trouble.hidden = false;
  if (!(error instanceof Trouble)) console.error(error);
}

function busy(on) {
  send.replaceChildren(icon(on ? "stop" : "send"));
  send.setAttribute("aria-label", on ? t("thread.stop") : t("thread.send"));
  log.setAttribute("aria-busy", on);
}

// A person takes over -----------------------------------------------------------------------------

const own = (path) => `/api/v1/conversations/${conversation}/${path}`;
const line = live({
  events: (id, stands, happened) => { if (id === conversation) take(stands, happened); },
  typing: (id, { on, name }) => { if (id === conversation) status.typing(on, name); },
  ended: (reason) => { trouble.firstElementChild.replaceChildren(reason, " ", el("a", { href: location.href }, t("thread.reload"))); trouble.hidden = false; },
  state: (up) => { $("say").dataset.line = up; if (up === "up" && conversation) letters.flush(conversation); },
});
const letters = outgoing({
  address: (id) => `/api/v1/conversations/${id}/messages`,
  refused: (id, message, error) => { marked(message.id, error.message); },
});
const status = bar($("bar"), {
  askPerson: () => handOver("asked", ""),
  takeBack: () => change(() => request("DELETE", own("handoff"))),
  transcript: () => { location.assign(ROOT + own("transcript")); },
  mail: (to) => post(own("transcript"), { mail: to }).then(() => t("thread.sent"), ({ message }) => message),
});

async function change(act) {
  try {
    const { session: stands, events: happened } = await (await act()).json();
    take(stands, happened);
  } catch (error) {
    trouble.firstElementChild.textContent = [error.message, error.hint].filter(Boolean).join(" ");
    trouble.hidden = false;
  }
}

function handOver(reason, topic) {
  const { team, alone } = $("person").dataset;
  log.querySelector("form.event:not(.rating)")?.remove();
  if (!team) return handedOver({ reason, topic: topic ?? "" });
  append(choice(team, alone != null, (chosen) => handedOver({ reason, topic: topic ?? "", ...chosen })));
}

async function handedOver(body) {
  trouble.hidden = true;
  await change(async () => { await open(); return post(own("handoff"), body); });
  box.focus({ preventScroll: true });
}

// To the advisor: shown at once, kept until the server has it.
function write(text) {
  const { id } = letters.add(conversation, text);
  mine.add(id);
  append(bubble({ by: "user", text, key: id }, t("thread.sending")));
  box.value = "";
  keep();
}

function append(node) {
  if (!node) return;
  hello.hidden = true;
  $("new").hidden = $("keep").hidden = false;
  log.append(node);
  log.scrollTop = log.scrollHeight;
}

const marked = (key, text) => { const found = log.querySelector(`[data-key="${key}"] .state`); if (found) found.textContent = text; };

const stages = { handoff: "queued", joined: "live", left: "queued", transferred: "queued", ended: "returned", closed: "closed" };
let known = 0, handoff = "";

function take(stands, happened, quiet = false) {
  for (const event of happened) {
    if (event.place <= known) continue;
    known = event.place;
    show(event, quiet);
    stage = stages[event.kind] ?? stage;
  }
  session = stands;
  offerRating();
  const said = status.show(session);
  if (said && !quiet) say(said);
  box.placeholder = stage === "live" ? t("thread.write_to", { name: session.advisor || t("thread.the_advisor") }) : t("thread.ask_about_policy");
  const isFree = ["bot", "returned"].includes(stage);
  if ($("person")) $("person").hidden = !isFree;
  for (const offer of log.querySelectorAll(".offer")) offer.hidden = !isFree || offer.querySelector("button").disabled;
  if (happened.length && log.lastElementChild?.matches(".said, .event")) log.scrollTop = log.scrollHeight;
}

function offerRating() {
  const asked = log.querySelector("form.rating");
  if (!session.may_rate) asked?.remove();
  else if (!asked) append(rating(async (score, comment) => { await change(() => post(own("rating"), { score, comment })); box.focus({ preventScroll: true }); }));
}

function show(event, quiet) {
  const { kind, by, key, text, at } = event;
  if (kind === "message" && by === "user") own_words(event, quiet);
  else if (kind === "message") {
    append(bubble(event));
    if (!quiet) say(`${t("thread.says", { who: event.name || t("thread.advisor") })} ${[text, ...(event.links ?? []).map(({ note }) => note)].filter(Boolean).join(" ")}`);
    seen();
  } else if (kind === "answer") {
    if (!mine.has(current) && pending) finish(pending, event.answer ?? event, event.html, { quiet: true });
    pending = null;
  } else if (kind === "interrupted") {
    if (!mine.has(current) && pending) stopped(pending, last, current, t("thread.interrupted"));
    pending = null;
  } else if (kind === "read" && by === "advisor") {
    const bubbles = log.querySelectorAll(".said.mine .state");
    if (bubbles.length) bubbles[bubbles.length - 1].textContent = t("thread.read_at", { time: clock(at) });
  } else if (kind === "delivery" && event.event_id === handoff) append(notice(event));
  else if (kind === "delivery") {
    log.querySelector(`[data-id="${event.event_id}"] .state`)?.replaceChildren({ parked: t("thread.not_delivered_yet"), dropped: t("thread.not_delivered") }[event.state] ?? t("thread.delivered"));
  } else append(notice(event));
  if (kind === "handoff") handoff = event.id;
  if (key) log.querySelector(`[data-key="${key}"]`)?.setAttribute("data-id", event.id);
}

function own_words(event) {
  current = event.key;
  if (mine.has(event.key)) { marked(event.key, clock(event.at)); return; }
  last = event.text;
  if (stage === "live") append(bubble(event)); else pending = begin(event.text);
}

function seen() {
  if (!document.hidden) post(own("read"), { place: known }).catch(() => {});
}

// A conversation ends, another begins; `again` is a question worth asking once more -----------------

function fresh(again, before = who.chosen()) {
  const left = log.querySelector(".turn, .said") && conversation;
  clear();
  if (again) hello.querySelector("ul")?.prepend(el("li", { class: "once" }, el("button", { type: "button", class: "sample", "data-ask": again }, el("span", {}, again), icon("next"))));
  save();
  undo.hidden = !left;
  if (left) undo.querySelector("button").onclick = () => { who.choose(before); go(left); box.focus({ preventScroll: true }); };
}

function clear() {
  asking?.abort();
  asking = null;
  busy(false);
  if (conversation) line.unwatch(conversation);
  conversation = null;
  [stage, session, pending, current, known, mine] = ["bot", null, null, "", 0, new Set()];
  status.show(null);
  if ($("person")) $("person").hidden = false;
  sources.close();
  for (const turn of log.querySelectorAll(".turn, .said, .event")) turn.remove();
  for (const old of hello.querySelectorAll(".once")) old.remove();
  hello.hidden = false;
  $("new").hidden = true;
  $("keep").hidden = true;
  list.refresh();
  trouble.hidden = true;
  undo.hidden = true;
}

const keep = () => store("sessionStorage", "draft", box.value || null);
// For this tab, and for the next one that is opened soon.
const SOON = 30 * 60 * 1000;
function save() {
  const kept = conversation ? JSON.stringify({ conversation, person: person(), at: Date.now() }) : null;
  store("sessionStorage", "conversation", kept);
  store("localStorage", "conversation", kept);
}

async function restore() {
  box.value ||= stored("sessionStorage", "draft") ?? "";
  const own = JSON.parse(stored("sessionStorage", "conversation") ?? "null"), other = JSON.parse(stored("localStorage", "conversation") ?? "null");
  const kept = own ?? (other && Date.now() - other.at < SOON ? other : null);
  if (!kept || JSON.stringify(kept.person) !== JSON.stringify(person())) return;
  await go(kept.conversation);
}

async function go(id) {
  clear();
  conversation = id;
  save();
  const { session: stands, events: happened } = await (await request("GET", own("events?after=0"))).json();
  take(stands, happened, true);
  for (const { id, text } of letters.waiting(conversation)) { mine.add(id); append(bubble({ by: "user", text, key: id }, t("thread.sending"))); }
  letters.flush(conversation);
  line.watch(conversation, known);
}

const list = conversations($("list"), $("side"), $("lists"), {
  current: () => conversation,
  closed: (is) => { if (is != null) store("localStorage", "conversations", is ? "closed" : null); return stored("localStorage", "conversations") === "closed"; },
  open: ({ id, asker: { country, roles, persona, grade, contract } }) => {
    who.choose({ country: country ?? "", role: roles[0] ?? "", persona, grade: grade ?? "", contract: contract ?? "" });
    go(id).catch(() => fresh());
    box.focus({ preventScroll: true });
  },
  gone: (id) => { if (id === conversation) { fresh(); undo.hidden = true; } },
});

let told = 0, quietly = 0;
function types() {
  if (stage !== "live") return;
  const now = Date.now();
  if (now - told > 3000) { told = now; line.typing(conversation, true); }
  clearTimeout(quietly);
  quietly = setTimeout(() => { told = 0; line.typing(conversation, false); }, 3000);
}

// What people do ----------------------------------------------------------------------------------

$("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  if (asking) asking.abort();
  else if (box.value.trim()) ask(box.value.trim());
  else box.focus();
});
box.addEventListener("keydown", (event) => {
  if (event.key === "ArrowUp" && !box.value && last) { event.preventDefault(); box.value = last; return; }
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  if (!asking && box.value.trim()) ask(box.value.trim());
});
box.addEventListener("input", () => {
  keep();
  types();
  if (CSS.supports("field-sizing", "content")) return;
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight}px`;
});
$("new").addEventListener("click", () => { fresh(); box.focus(); });
addEventListener("keydown", (event) => { if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) { event.preventDefault(); list.show(); } });
$("markdown").addEventListener("click", () => location.assign(ROOT + own("transcript?format=markdown")));
$("print").addEventListener("click", () => print());
// Where nobody signs in, a link could be kept from nobody: the text is passed on instead.
async function passOn() {
  const text = await (await request("GET", own("transcript?format=markdown"))).text();
  navigator.share({ title: "ombud", text }).catch(() => {});
}
$("share").hidden = !($("sharing") || navigator.share);
$("share").addEventListener("click", $("sharing") ? sharing($("sharing"), () => own("share")) : passOn);
$("again").addEventListener("click", () => { const text = box.value.trim() || last; trouble.hidden = true; if (text) ask(text, text === last && lastKey ? lastKey : undefined); });
$("person")?.addEventListener("click", () => handOver("asked", ""));
document.addEventListener("visibilitychange", () => { if (stage === "live") seen(); });
document.addEventListener("click", (event) => {
  const chosen = event.target.closest("[data-ask]");
  if (chosen) { ask(chosen.dataset.ask); box.focus({ preventScroll: true }); }
});
send.disabled = false;
// Enter pressed before this script had loaded left a line break behind the question.
const early = box.value;
restore().catch(() => fresh()).then(() => { if (early.trim() && early.endsWith("\n") && box.value === early) ask(early.trim()); });
