// The desk: who waits, the conversation that is open, and what helps to answer. Text is text everywhere; HTML comes in
// through `written` only, as the server rendered it.
import { live } from "./live.js";
import { outgoing } from "./outgoing.js";
import { bubble } from "./person.js";
import { post, send } from "./stream.js";
import { clock, country, day, el, icon, language, t } from "./words.js";

const policy = globalThis.trustedTypes?.createPolicy("ombud", { createHTML: (html) => html }) ?? { createHTML: (html) => html };
const written = (node, html) => { node.innerHTML = policy.createHTML(html); return node; };
const $ = (id) => document.getElementById(id);
const API = "/api/v1/desk", say = (text) => { $("say").textContent = text; };
const REASONS = { asked: t("desklive.reason_asked"), sensitive: t("desklive.reason_sensitive"), denied: t("desklive.reason_denied"), unsure: t("desklive.reason_unsure"), complex: t("desklive.reason_complex"), policy: t("desklive.reason_policy") };
const ago = (iso) => { const minutes = Math.floor((Date.now() - new Date(iso)) / 60000); return minutes < 1 ? t("desklive.just_now") : span(minutes); };
// What is left of the target for the first response; late = it is over.
const due = (iso) => { const minutes = Math.ceil((new Date(iso) - Date.now()) / 60000); return minutes > 0 ? { late: false, text: t("desklive.due", { time: span(minutes) }) } : { late: true, text: t("desklive.late", { time: span(Math.max(1, -minutes)) }) }; };
const span = (minutes) => (minutes < 60 ? t("desklive.minutes", { count: minutes }) : t("desklive.hours", { hours: Math.floor(minutes / 60), minutes: minutes % 60 }));
const showDue = (node) => { const { late, text } = due(node.dataset.due); node.textContent = text; node.classList.toggle("late", late); return node; };
const untilOf = (iso) => t("desklive.until", { time: day(iso, { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" }) });
const topicOf = (topic) => topic.replaceAll("-", " ").replace(/^./, (letter) => letter.toUpperCase());

let me = null, board = { waiting: [], mine: [], others: [], snoozed: [] }, replies = [], talk = null, session = null, known = 0, heardOf = null;

function failed(error) {
  $("trouble").firstElementChild.textContent = [error.message ?? error.detail, error.hint].filter(Boolean).join(" ");
  $("trouble").hidden = false;
}
const tried = async (work) => { try { $("trouble").hidden = true; return await work(); } catch (error) { failed(error); return null; } };

// Who is here ---------------------------------------------------------------------------------------

async function begin() {
  const found = await (await send("GET", API)).json();
  ({ me, replies } = found);
  $("welcome").hidden = Boolean(me);
  $("desk").hidden = !me;
  for (const id of ["leave", "away-label"]) $(id).hidden = !me;
  $("bell").hidden = !me || !("Notification" in globalThis) || Notification.permission !== "default";
  if (!me) {
    $("advisors").replaceChildren(...found.advisors.map(({ id, name, topics }) => el("li", {}, el("button", { type: "button", class: "sample", click: () => signIn(id) }, el("span", {}, name, topics.length > 0 && el("span", { class: "mute" }, ` · ${topics.map(topicOf).join(", ")}`)), icon("next")))));
    return;
  }
  $("leave").lastElementChild.textContent = me.name;
  $("leave").setAttribute("aria-label", t("desklive.leave", { name: me.name }));
  $("to").replaceChildren(el("option", { value: "" }, t("desklive.choose")), ...found.advisors.filter(({ id }) => id !== me.id).map(({ id, name, is_here: here }) => el("option", { value: `advisor/${id}` }, here ? t("desklive.is_here", { name }) : name)), ...found.topics.map((topic) => el("option", { value: `topic/${topic}` }, t("desklive.team", { topic: topicOf(topic) }))));
  $("reason").replaceChildren(...found.reasons.map((reason) => el("option", { value: reason }, topicOf(reason))));
  $("closed-topic").hidden = !found.topics.length;
  $("closed-topic").append(...found.topics.map((topic) => el("option", { value: topic }, topicOf(topic))));
  draw(found);
  line.desk();
  const linked = new URLSearchParams(location.search).get("conversation");
  if (linked) await open(linked);
}

const signIn = (advisor) => tried(async () => { await post(`${API}/sign-in`, { advisor }); location.reload(); });
$("leave").addEventListener("click", () => tried(async () => { await post(`${API}/sign-out`, {}); location.reload(); }));
$("away").addEventListener("change", () => tried(() => post(`${API}/away`, { away: $("away").checked })));
$("dismiss").addEventListener("click", () => { $("trouble").hidden = true; });
$("bell").addEventListener("click", async () => { await Notification.requestPermission(); $("bell").hidden = true; });

// The queue -----------------------------------------------------------------------------------------

function draw(told) {
  const { is_open: open, opens } = told;
  $("hours").textContent = open ? "" : opens ? t("desklive.closed_until", { day: day(opens, { weekday: "short", hour: "2-digit", minute: "2-digit" }) }) : t("desklive.closed");
  const waiting = [...told.waiting].sort((one, other) => (other.urgent - one.urgent) || (other.wanted_me - one.wanted_me) || (other.is_for_me - one.is_for_me));
  notify(waiting);
  board = { waiting, mine: told.mine, others: told.others, snoozed: told.snoozed };
  offerTags(waiting.concat(told.mine, told.others, told.snoozed));
  drawLists();
}

function drawLists() {
  for (const name of ["waiting", "mine", "others", "snoozed"]) {
    const cards = board[name].filter(isChosen);
    $(`${name}-count`).textContent = cards.length || "";
    $(name).replaceChildren(...(cards.length ? cards.map((card) => el("li", {}, cardOf(card))) : [el("li", { class: "none" }, name === "waiting" ? t("desklive.nobody_waits") : t("desklive.none"))]));
  }
  $("others-part").hidden = !board.others.length;
  $("snoozed-part").hidden = !board.snoozed.length;
}

// One choice for all lists: everything, what is urgent, or a tag.
const wantedTag = () => ($("filter").value.startsWith("tag/") ? $("filter").value.slice(4) : "");
const isChosen = ({ urgent, tags }) => ($("filter").value === "urgent" ? urgent : !wantedTag() || tags.includes(wantedTag()));
function offerTags(cards) {
  const offered = new Set([...$("filter").options].map(({ value }) => value));
  for (const tag of new Set(cards.flatMap(({ tags }) => tags))) if (!offered.has(`tag/${tag}`)) $("filter").append(el("option", { value: `tag/${tag}` }, t("desklive.tag", { tag })));
}
$("filter").addEventListener("change", () => { drawLists(); search(); });
const labelsOf = ({ urgent, rating, tags }) => [urgent && t("desklive.urgent"), rating && t("desklive.rated", { score: rating }), ...(tags ?? [])].filter(Boolean);

function cardOf({ id, reason, topic, urgent, tags, country: code, since, preview, unread, advisor, due: target, snoozed_until: until, is_for_me: forMe, wanted_me: byName }) {
  const marks = [byName ? t("desklive.for_you_by_name") : forMe && !advisor ? t("desklive.for_you") : "", topic && topicOf(topic), code && country(code), advisor && advisor !== me.name ? t("desklive.with_someone", { name: advisor }) : "", until && new Date(until) > Date.now() && untilOf(until), ...labelsOf({ urgent, tags })].filter(Boolean);
  return el("button", { type: "button", class: reason === "sensitive" ? "card sensitive" : "card", "data-id": id, "aria-current": String(id === talk), click: () => open(id) },
    el("span", { class: "line" }, el("b", {}, REASONS[reason] ?? t("desklive.handed_over")), unread > 0 && el("span", { class: "unread", "aria-label": t("desklive.unread", { count: unread }) }, String(unread)), since && el("span", { class: "ago", "data-since": since }, ago(since))),
    preview && el("span", { class: "preview", dir: "auto" }, preview),
    target && showDue(el("span", { class: "due", "data-due": target })),
    marks.length > 0 && el("span", { class: "marks" }, ...marks.map((text, place) => el("span", { class: place === 0 && (forMe || byName) && !advisor ? "for" : "" }, text))));
}

// Conversations whose handoff is over: a list of its own, read when it is opened or searched.
let searched = 0, pause = 0;
async function search() {
  if (!$("closed-part").open) return;
  const own = ++searched, q = $("closed-words").value.trim(), topic = $("closed-topic").value;
  await tried(async () => {
    const wanted = new URLSearchParams({ q, topic, tag: wantedTag(), urgent: $("filter").value === "urgent" });
    const { conversations } = await (await send("GET", `${API}/closed?${wanted}`)).json();
    if (own !== searched) return;
    offerTags(conversations);
    $("closed").replaceChildren(...(conversations.length ? conversations.map((card) => el("li", {}, closedCard(card))) : [el("li", { class: "none" }, q || topic || $("filter").value ? t("desklive.nothing_found") : t("desklive.nothing_closed"))]));
  });
}
$("closed-part").addEventListener("toggle", search);
$("closed-words").addEventListener("input", () => { clearTimeout(pause); pause = setTimeout(search, 200); });
$("closed-topic").addEventListener("change", search);
$("closed-search").addEventListener("submit", (event) => { event.preventDefault(); search(); });

function closedCard({ id, reason, topic, urgent, rating, tags, country: code, since, preview, advisor }) {
  const marks = [topic && topicOf(topic), code && country(code), advisor && t("desklive.with_someone", { name: advisor }), ...labelsOf({ urgent, rating, tags })].filter(Boolean);
  return el("button", { type: "button", class: reason === "sensitive" ? "card sensitive" : "card", "data-id": id, "aria-current": String(id === talk), click: () => open(id) },
    el("span", { class: "line" }, el("b", {}, REASONS[reason] ?? t("desklive.handed_over")), since && el("time", { class: "when" }, day(since, { dateStyle: "medium" }))),
    preview && el("span", { class: "preview", dir: "auto" }, preview),
    marks.length > 0 && el("span", { class: "marks" }, ...marks.map((text) => el("span", {}, text))));
}

// A tab that nobody looks at counts in its title, and tells once whom it has not told of.
function notify(waiting) {
  const ids = waiting.map(({ id }) => id), fresh = heardOf ? ids.filter((id) => !heardOf.has(id)) : [];
  heardOf = new Set(ids);
  document.title = `${waiting.length ? `(${waiting.length}) ` : ""}${t("desklive.tab_title")}`;
  if (!fresh.length) return;
  say(t("desklive.waiting_count", { count: waiting.length }));
  if (document.hidden && globalThis.Notification?.permission === "granted") new Notification(t("desklive.someone_waits"), { tag: "ombud-desk" });
}

// A conversation ------------------------------------------------------------------------------------

const line = live({
  desk: draw,
  // Once it is handed over again, what was asked before it is there to read, also what is older than a note that is shown.
  events: (id, stands, events) => { if (id !== talk) return; if (events.some(({ kind }) => kind === "handoff")) open(id); else take(stands, events); },
  typing: (id, { on }) => { if (id === talk) $("types").textContent = on ? t("desklive.employee_writing") : ""; },
  trouble: failed,
  ended: (reason) => { failed({ message: reason }); $("trouble").firstElementChild.append(" ", el("a", { href: location.href }, t("thread.reload"))); },
  state: (up) => { if (up === "down") failed({ message: t("desklive.connection_lost") }); else { $("trouble").hidden = true; if (talk) letters.flush(talk); } },
});
const letters = outgoing({ address: (id) => `${API}/${id}/messages`, refused: (id, message, error) => { failed(error); $("words").value ||= message.text; marked(message.id, t("desklive.not_sent")); } });
const marked = (key, text) => { const found = $("thread").querySelector(`[data-key="${key}"] .state`); if (found) found.textContent = text; };
const drafts = (id) => `desk-draft-${id}`;

async function open(id) {
  if (talk) line.unwatch(talk);
  [talk, known, session] = [id, 0, null];
  $("about").hidden = false;
  $("nobody").hidden = true;
  $("note-part").hidden = false;
  $("note-words").value = "";
  noteKey = "";
  if (isWanted && innerWidth > 1280) details(true);
  else if (innerWidth <= 1100) details(false);
  $("desk").classList.add("open");
  $("suggestion").hidden = true;
  $("types").textContent = "";
  $("thread").replaceChildren();
  for (const card of document.querySelectorAll(".card")) card.setAttribute("aria-current", String(card.dataset.id === id));
  $("words").value = localStorage.getItem(drafts(id)) ?? "";
  await tried(async () => {
    const { session: stands, person, events, sources, earlier } = await (await send("GET", `${API}/${id}`)).json();
    if (talk !== id) return;
    facts(person, stands);
    rests(sources);
    $("earlier-part").hidden = !earlier.length;
    $("earlier").replaceChildren(...earlier.map((card) => el("li", {}, closedCard(card))));
    take(stands, events, true);
    for (const { id: key, text } of letters.waiting(id)) append(bubble({ by: "user", text, key }, t("thread.sending")));
    letters.flush(id);
    line.watch(id, known);
    ($("reply").hidden ? ($("claim").hidden ? $("thread") : $("claim")) : $("words")).focus({ preventScroll: true });
  });
}

function facts(person, stands) {
  const rows = [[t("desklive.why_it_came"), REASONS[stands.reason]], [t("desklive.topic"), stands.topic && topicOf(stands.topic)], [t("desklive.country"), person.country && country(person.country)], [t("desklive.roles"), person.roles?.map(topicOf).join(", ")], [t("desklive.grade"), person.grade], [t("desklive.contract"), person.contract], [t("desklive.language"), person.language && new Intl.DisplayNames([language], { type: "language" }).of(person.language)]];
  $("facts").replaceChildren(...rows.filter(([, value]) => value).map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", {}, value))));
}

function rests(sources) {
  $("rests").hidden = !sources.length;
  $("shown").replaceChildren(...sources.map(({ title, quote, href, page }) => el("li", {}, el("a", { href, target: "_blank", rel: "noopener" }, page ? t("thread.page_of", { title, page }) : title), el("q", { dir: "auto" }, quote))));
}

let shownLabels = "";
function take(stands, events, quiet = false) {
  for (const event of events) {
    if (event.place <= known) continue;
    known = event.place;
    show(event, quiet);
  }
  session = stands;
  const labels = JSON.stringify([stands.id, stands.urgent, stands.tags]);
  // What is being typed stays while nobody else changes it.
  if (labels !== shownLabels && !$("labels").contains(document.activeElement)) {
    shownLabels = labels;
    $("urgent").checked = stands.urgent;
    $("tags").value = stands.tags.join(", ");
  }
  const isMine = stands.state === "live" && stands.advisor === me.name, code = board.waiting.concat(board.mine, board.others, board.snoozed).find(({ id }) => id === stands.id)?.country;
  $("why").textContent = REASONS[stands.reason] ?? t("desklive.handed_over");
  $("whose").textContent = [{ queued: t("desklive.state_waiting"), live: isMine ? t("desklive.state_with_you") : t("desklive.with_someone", { name: stands.advisor }), returned: t("desklive.state_returned"), closed: t("desklive.state_closed") }[stands.state], code && country(code), stands.topic && topicOf(stands.topic)].filter(Boolean).join(" · ");
  $("claim").hidden = stands.state !== "queued";
  for (const id of ["reply", "pass", "snooze", "end"]) $(id).hidden = !isMine;
  $("wake").hidden = !stands.snoozed_until || new Date(stands.snoozed_until) <= Date.now();
  if (isMine && events.some(({ kind, by }) => kind === "joined" || (kind === "message" && by === "user"))) seen();
}

// What nobody looks at is not read.
function seen() {
  if (talk && session && !document.hidden && !$("reply").hidden) post(`${API}/${talk}/read`, { place: known }).catch(() => {});
}
document.addEventListener("visibilitychange", seen);

function append(node) {
  if (!node) return;
  $("thread").append(node);
  $("thread").scrollTop = $("thread").scrollHeight;
}

const noted = (text, note) => (note ? `${text} ${t("desklive.note", { note })}` : text);
const NOTICES = {
  handoff: ({ reason }) => t("desklive.handed_over_because", { reason: REASONS[reason] ?? "" }),
  joined: ({ name }) => t("desklive.joined", { name }),
  snooze: ({ name, until }) => (until ? [t("desklive.snoozed_by", { name }), untilOf(until)].join(" ") : t("desklive.woken", { name })),
  left: ({ name }) => t("desklive.left", { name }),
  transferred: ({ note }) => noted(t("desklive.transferred"), note),
  ended: ({ by, reason, note }) => noted(by === "user" ? t("desklive.taken_back") : reason ? t("desklive.ended_because", { reason }) : t("desklive.ended"), note),
  closed: () => t("desklive.closed_by_employee"),
  unclaimed: () => t("desklive.unclaimed"),
  out_of_hours: () => t("desklive.out_of_hours"),
  interrupted: () => t("desklive.answer_interrupted"),
  rating: ({ score, comment }) => (score ? [t("desklive.rated", { score }), comment].filter(Boolean).join(" ") : t("desklive.not_rated")),
};

function show(event, quiet) {
  const { kind, by, key, text, at, html } = event;
  if (kind === "message" && key && $("thread").querySelector(`[data-key="${key}"]`)) marked(key, clock(at));
  else if (kind === "message") {
    append(bubble({ ...event, by: by === "advisor" ? "user" : "advisor", name: t("desklive.employee") }));
    if (!quiet && by === "user") { say(`${t("thread.says", { who: t("desklive.employee") })} ${text}`); $("types").textContent = ""; }
  } else if (kind === "note" && !text) append(el("p", { class: "event" }, t("desklive.labelled", { name: event.name, labels: labelsOf(event).join(", ") || t("desklive.no_labels") }), " ", el("time", { class: "mute" }, clock(at))));
  else if (kind === "note") append(el("div", { class: "memo" }, el("p", { class: "who" }, t("desklive.private_note_by", { name: event.name }), " ", el("time", {}, clock(at))), el("p", { class: "words", dir: "auto" }, text)));
  else if (kind === "answer") append(el("div", { class: "bot" }, el("p", { class: "who" }, icon("doc"), t("desklive.assistant")), written(el("div", { class: "body" }), html)));
  else if (kind === "read" && by === "user") { const all = $("thread").querySelectorAll(".said.mine .state"); if (all.length) all[all.length - 1].textContent = t("thread.read_at", { time: clock(at) }); }
  else if (NOTICES[kind]) append(el("p", { class: "event" }, NOTICES[kind](event), " ", el("time", { class: "mute" }, clock(at))));
}

const changed = (path, body) => tried(async () => {
  const id = talk, { session: stands, events } = await (await post(`${API}/${id}/${path}`, body)).json();
  if (id === talk) take(stands, events);
  draw(await (await send("GET", API)).json());
  search();
  return true;
});

// The button has gone by then; whoever writes elsewhere meanwhile is left there.
$("claim").addEventListener("click", async () => { if (await changed("claim", {}) && document.activeElement === document.body) $("words").focus(); });
$("labels").addEventListener("submit", (event) => {
  event.preventDefault();
  changed("labels", { urgent: $("urgent").checked, tags: $("tags").value.split(",") });
});
$("pass").addEventListener("submit", async (event) => {
  event.preventDefault();
  const [kind, ...name] = $("to").value.split("/");
  if (name.length && await changed("transfer", { [kind]: name.join("/"), note: $("pass-note").value })) $("pass-note").value = "";
});
$("snooze").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (await changed("snooze", { until: new Date($("snooze-until").value).toISOString() })) $("snooze-until").value = "";
});
$("wake").addEventListener("click", async () => { if (await changed("snooze", { until: null })) $("snooze-until").focus(); });
$("end").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (await changed("end", { reason: $("reason").value, note: $("end-note").value })) $("end-note").value = "";
});

// A repeated key is the same note, so that a lost reply does not add it twice.
let noteKey = "";
$("note").addEventListener("submit", async (event) => {
  event.preventDefault();
  noteKey ||= crypto.randomUUID();
  if (await changed("notes", { id: noteKey, text: $("note-words").value })) { $("note-words").value = noteKey = ""; if ($("note").contains(document.activeElement)) $("note-words").focus(); }
});

// Writing -------------------------------------------------------------------------------------------

let told = 0, quietly = 0;
const keepDraft = () => { if ($("words").value) localStorage.setItem(drafts(talk), $("words").value); else localStorage.removeItem(drafts(talk)); };

$("reply").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = $("words").value.trim();
  if (!text) return;
  const { id } = letters.add(talk, text);
  append(bubble({ by: "user", text, key: id }, t("thread.sending")));
  $("words").value = "";
  $("ready").hidden = true;
  keepDraft();
});
$("words").addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !$("ready").hidden) { closeReady(); event.stopPropagation(); return; }
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  if (!$("ready").hidden) $("ready").querySelector("button")?.click(); else $("reply").requestSubmit();
});
$("words").addEventListener("input", () => {
  keepDraft();
  if ($("words").value.startsWith("/")) openReady($("words").value.slice(1)); else closeReady();
  const now = Date.now();
  if (now - told > 3000) { told = now; line.typing(talk, true); }
  clearTimeout(quietly);
  quietly = setTimeout(() => { told = 0; line.typing(talk, false); }, 3000);
});

function openReady(wanted = "") {
  const found = replies.filter(({ title, text }) => `${title} ${text}`.toLowerCase().includes(wanted.toLowerCase()));
  $("ready").replaceChildren(...(found.length ? found.map(({ title, text }) => el("button", { type: "button", role: "option", "aria-selected": "false", click: () => insert(text) }, el("b", {}, title), el("span", { class: "mute" }, ` ${text.slice(0, 80)}`))) : [el("p", { class: "mute" }, replies.length ? t("desklive.no_such_reply") : t("desklive.no_replies"))]));
  $("ready").hidden = false;
  $("replies").setAttribute("aria-expanded", "true");
}
function closeReady() { $("ready").hidden = true; $("replies").setAttribute("aria-expanded", "false"); }
function insert(text) { $("words").value = text; closeReady(); keepDraft(); $("words").focus(); }
$("replies").addEventListener("click", () => { if ($("ready").hidden) openReady(); else closeReady(); });

$("suggest").addEventListener("click", () => tried(async () => {
  const own = talk, node = $("suggestion");
  node.hidden = false;
  node.replaceChildren(el("p", { class: "mute" }, t("desklive.searching")));
  const { html, text, citations } = await (await post(`${API}/${own}/suggest`, {})).json();
  if (own !== talk) return;
  const links = citations.map(({ title, href }, place) => el("a", { class: "chip", href, target: "_blank", rel: "noopener" }, icon("doc"), el("span", {}, `${place + 1} ${title}`)));
  node.replaceChildren(written(el("div", { class: "body" }), html), el("div", { class: "chips" }, ...links), el("div", { class: "row" }, el("button", { type: "button", class: "primary", click: () => { insert(text.replace(/\s*\[\d+\]/g, "")); node.hidden = true; } }, t("desklive.use")), el("button", { type: "button", class: "plain", click: () => { node.hidden = true; } }, t("desklive.dismiss"))));
  $("thread").scrollTop = $("thread").scrollHeight;
}));

// Moving about --------------------------------------------------------------------------------------

let isWanted = true;
const details = (on) => { $("details").hidden = !on; $("desk").classList.toggle("with-details", on); };
$("details-open").addEventListener("click", () => { details($("details").hidden); if (!$("details").hidden) $("details-close").focus(); });
$("details-close").addEventListener("click", () => { isWanted = false; details(false); $("details-open").focus(); });
$("back").addEventListener("click", back);
function back() {
  $("desk").classList.remove("open");
  document.querySelector(`.card[data-id="${talk}"]`)?.focus();
}
document.addEventListener("keydown", (event) => {
  if (!me || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") { if (!$("details").hidden && innerWidth < 1100) details(false); else back(); return; }
  if (event.target.closest("input, textarea, select")) return;
  const cards = [...$("queue").querySelectorAll(".card")].filter((card) => card.checkVisibility()), at = cards.indexOf(document.activeElement.closest(".card"));
  if (event.key === "j" || event.key === "k") { event.preventDefault(); cards[Math.max(0, Math.min(cards.length - 1, at + (event.key === "j" ? 1 : -1)))]?.focus(); }
  if (event.key === "c" && talk && !$("claim").hidden) $("claim").click();
});
setInterval(() => {
  for (const node of document.querySelectorAll(".ago")) node.textContent = ago(node.dataset.since);
  document.querySelectorAll(".due").forEach(showDue);
  if (board.snoozed.some(({ snoozed_until: until }) => new Date(until) <= Date.now())) tried(async () => draw(await (await send("GET", API)).json()));
}, 60000);
tried(begin);
