// The desk: who waits, the conversation that is open, and what helps to answer. Text is text everywhere; HTML comes in
// through `written` only, as the server rendered it.
import { live } from "./live.js";
import { outgoing } from "./outgoing.js";
import { bubble } from "./person.js";
import { post, send } from "./stream.js";
import { country, el, icon } from "./words.js";

const policy = globalThis.trustedTypes?.createPolicy("ombud", { createHTML: (html) => html }) ?? { createHTML: (html) => html };
const written = (node, html) => { node.innerHTML = policy.createHTML(html); return node; };
const $ = (id) => document.getElementById(id);
const API = "/api/v1/desk", say = (text) => { $("say").textContent = text; };
const REASONS = { asked: "Asked for a person", sensitive: "Something sensitive", denied: "Several questions without an answer", unsure: "An uncertain answer", complex: "A complex case", policy: "A rule of the organisation" };
const clock = (iso) => new Date(iso).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
const ago = (iso) => { const minutes = Math.floor((Date.now() - new Date(iso)) / 60000); return minutes < 1 ? "now" : minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`; };
const topicOf = (topic) => topic.replaceAll("-", " ").replace(/^./, (letter) => letter.toUpperCase());

let me = null, board = { waiting: [], mine: [], others: [] }, replies = [], talk = null, session = null, known = 0, heardOf = null;

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
  $("leave").setAttribute("aria-label", `${me.name}: leave the desk`);
  $("to").replaceChildren(el("option", { value: "" }, "Choose"), ...found.advisors.filter(({ id }) => id !== me.id).map(({ id, name, is_here: here }) => el("option", { value: `advisor/${id}` }, here ? `${name} (here)` : name)), ...found.topics.map((topic) => el("option", { value: `topic/${topic}` }, `Team: ${topicOf(topic)}`)));
  $("reason").replaceChildren(...found.reasons.map((reason) => el("option", { value: reason }, topicOf(reason))));
  draw(found);
  line.desk();
}

const signIn = (advisor) => tried(async () => { await post(`${API}/sign-in`, { advisor }); location.reload(); });
$("leave").addEventListener("click", () => tried(async () => { await post(`${API}/sign-out`, {}); location.reload(); }));
$("away").addEventListener("change", () => tried(() => post(`${API}/away`, { away: $("away").checked })));
$("dismiss").addEventListener("click", () => { $("trouble").hidden = true; });
$("bell").addEventListener("click", async () => { await Notification.requestPermission(); $("bell").hidden = true; });

// The queue -----------------------------------------------------------------------------------------

function draw(told) {
  const { is_open: open, opens } = told;
  $("hours").textContent = open ? "" : opens ? `Closed until ${new Date(opens).toLocaleString([], { weekday: "short", hour: "2-digit", minute: "2-digit" })}` : "Closed";
  const waiting = [...told.waiting].sort((one, other) => (other.wanted_me - one.wanted_me) || (other.is_for_me - one.is_for_me));
  notify(waiting);
  board = { waiting, mine: told.mine, others: told.others };
  for (const name of ["waiting", "mine", "others"]) {
    $(`${name}-count`).textContent = board[name].length || "";
    $(name).replaceChildren(...(board[name].length ? board[name].map((card) => el("li", {}, cardOf(card))) : [el("li", { class: "none" }, name === "waiting" ? "Nobody waits." : "None.")]));
  }
  $("others-part").hidden = !board.others.length;
}

function cardOf({ id, reason, topic, country: code, since, preview, unread, advisor, is_for_me: forMe, wanted_me: byName }) {
  const marks = [byName ? "For you by name" : forMe && !advisor ? "For you" : "", topic && topicOf(topic), code && country(code), advisor && advisor !== me.name ? `with ${advisor}` : ""].filter(Boolean);
  return el("button", { type: "button", class: reason === "sensitive" ? "card sensitive" : "card", "data-id": id, "aria-current": String(id === talk), click: () => open(id) },
    el("span", { class: "line" }, el("b", {}, REASONS[reason] ?? "Handed over"), unread > 0 && el("span", { class: "unread", "aria-label": `${unread} unread` }, String(unread)), since && el("span", { class: "ago", "data-since": since }, ago(since))),
    preview && el("span", { class: "preview", dir: "auto" }, preview),
    marks.length > 0 && el("span", { class: "marks" }, ...marks.map((text, place) => el("span", { class: place === 0 && (forMe || byName) && !advisor ? "for" : "" }, text))));
}

// A tab that nobody looks at counts in its title, and tells once whom it has not told of.
function notify(waiting) {
  const ids = waiting.map(({ id }) => id), fresh = heardOf ? ids.filter((id) => !heardOf.has(id)) : [];
  heardOf = new Set(ids);
  document.title = `${waiting.length ? `(${waiting.length}) ` : ""}Desk · ombud`;
  if (!fresh.length) return;
  say(`${waiting.length} waiting`);
  if (document.hidden && globalThis.Notification?.permission === "granted") new Notification("Somebody waits for an advisor", { tag: "ombud-desk" });
}

// A conversation ------------------------------------------------------------------------------------

const line = live({
  desk: draw,
  events: (id, stands, events) => { if (id === talk) take(stands, events); },
  typing: (id, { on }) => { if (id === talk) $("types").textContent = on ? "The employee is writing …" : ""; },
  trouble: failed,
  ended: (reason) => { failed({ message: reason }); $("trouble").firstElementChild.append(" ", el("a", { href: location.href }, "Load again")); },
  state: (up) => { if (up === "down") failed({ message: "The connection is lost; trying again." }); else { $("trouble").hidden = true; if (talk) letters.flush(talk); } },
});
const letters = outgoing({ address: (id) => `${API}/${id}/messages`, refused: (id, message, error) => { failed(error); $("words").value ||= message.text; marked(message.id, "Not sent"); } });
const marked = (key, text) => { const found = $("thread").querySelector(`[data-key="${key}"] .state`); if (found) found.textContent = text; };
const drafts = (id) => `desk-draft-${id}`;

async function open(id) {
  if (talk) line.unwatch(talk);
  [talk, known, session] = [id, 0, null];
  $("about").hidden = false;
  $("nobody").hidden = true;
  if (isWanted && innerWidth > 1280) details(true);
  $("desk").classList.add("open");
  $("suggestion").hidden = true;
  $("types").textContent = "";
  $("thread").replaceChildren();
  for (const card of document.querySelectorAll(".card")) card.setAttribute("aria-current", String(card.dataset.id === id));
  $("words").value = localStorage.getItem(drafts(id)) ?? "";
  await tried(async () => {
    const { session: stands, person, events, sources } = await (await send("GET", `${API}/${id}`)).json();
    if (talk !== id) return;
    facts(person, stands);
    rests(sources);
    take(stands, events, true);
    for (const { id: key, text } of letters.waiting(id)) append(bubble({ by: "user", text, key }, "Sending"));
    letters.flush(id);
    line.watch(id, known);
    ($("reply").hidden ? ($("claim").hidden ? $("thread") : $("claim")) : $("words")).focus({ preventScroll: true });
  });
}

function facts(person, stands) {
  const rows = [["Why it came", REASONS[stands.reason]], ["Topic", stands.topic && topicOf(stands.topic)], ["Country", person.country && country(person.country)], ["Roles", person.roles?.map(topicOf).join(", ")], ["Grade", person.grade], ["Contract", person.contract], ["Language", person.language && new Intl.DisplayNames(undefined, { type: "language" }).of(person.language)]];
  $("facts").replaceChildren(...rows.filter(([, value]) => value).map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", {}, value))));
}

function rests(sources) {
  $("rests").hidden = !sources.length;
  $("shown").replaceChildren(...sources.map(({ title, quote, href, page }) => el("li", {}, el("a", { href, target: "_blank", rel: "noopener" }, page ? `${title}, page ${page}` : title), el("q", { dir: "auto" }, quote))));
}

function take(stands, events, quiet = false) {
  for (const event of events) {
    if (event.place <= known) continue;
    known = event.place;
    show(event, quiet);
  }
  session = stands;
  const isMine = stands.state === "live" && stands.advisor === me.name, code = board.waiting.concat(board.mine, board.others).find(({ id }) => id === stands.id)?.country;
  $("why").textContent = REASONS[stands.reason] ?? "Handed over";
  $("whose").textContent = [{ queued: "waiting", live: isMine ? "with you" : `with ${stands.advisor}`, returned: "given back to the assistant", closed: "closed" }[stands.state], code && country(code), stands.topic && topicOf(stands.topic)].filter(Boolean).join(" · ");
  $("claim").hidden = stands.state !== "queued";
  for (const id of ["reply", "pass", "end"]) $(id).hidden = !isMine;
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

const NOTICES = {
  handoff: ({ reason }) => `Handed over: ${(REASONS[reason] ?? "").toLowerCase()}.`,
  joined: ({ name }) => `${name} has joined.`,
  left: ({ name }) => `${name} has left.`,
  transferred: ({ note }) => `Passed on.${note ? ` Note: ${note}` : ""}`,
  ended: ({ by, reason, note }) => `${by === "user" ? "Taken back by the employee" : "Ended"}${reason && by !== "user" ? `: ${reason}` : ""}.${note ? ` Note: ${note}` : ""}`,
  closed: () => "Closed by the employee.",
  unclaimed: () => "Nobody took it in time; the employee was given a contact.",
  out_of_hours: () => "Came out of hours.",
  interrupted: () => "The assistant's answer was interrupted.",
};

function show(event, quiet) {
  const { kind, by, key, text, at, html } = event;
  if (kind === "message" && key && $("thread").querySelector(`[data-key="${key}"]`)) marked(key, clock(at));
  else if (kind === "message") {
    append(bubble({ ...event, by: by === "advisor" ? "user" : "advisor", name: "Employee" }));
    if (!quiet && by === "user") { say(`Employee: ${text}`); $("types").textContent = ""; }
  } else if (kind === "answer") append(el("div", { class: "bot" }, el("p", { class: "who" }, icon("doc"), "Assistant"), written(el("div", { class: "body" }), html)));
  else if (kind === "read" && by === "user") { const all = $("thread").querySelectorAll(".said.mine .state"); if (all.length) all[all.length - 1].textContent = `Read ${clock(at)}`; }
  else if (NOTICES[kind]) append(el("p", { class: "event" }, NOTICES[kind](event), " ", el("time", { class: "mute" }, clock(at))));
}

const changed = (path, body) => tried(async () => {
  const { session: stands, events } = await (await post(`${API}/${talk}/${path}`, body)).json();
  take(stands, events);
  draw(await (await send("GET", API)).json());
  return true;
});

$("claim").addEventListener("click", async () => { if (await changed("claim", {})) $("words").focus(); });
$("pass").addEventListener("submit", async (event) => {
  event.preventDefault();
  const [kind, ...name] = $("to").value.split("/");
  if (name.length && await changed("transfer", { [kind]: name.join("/"), note: $("pass-note").value })) $("pass-note").value = "";
});
$("end").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (await changed("end", { reason: $("reason").value, note: $("end-note").value })) $("end-note").value = "";
});

// Writing -------------------------------------------------------------------------------------------

let told = 0, quietly = 0;
const keepDraft = () => { if ($("words").value) localStorage.setItem(drafts(talk), $("words").value); else localStorage.removeItem(drafts(talk)); };

$("reply").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = $("words").value.trim();
  if (!text) return;
  const { id } = letters.add(talk, text);
  append(bubble({ by: "user", text, key: id }, "Sending"));
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
  $("ready").replaceChildren(...(found.length ? found.map(({ title, text }) => el("button", { type: "button", role: "option", "aria-selected": "false", click: () => insert(text) }, el("b", {}, title), el("span", { class: "mute" }, ` ${text.slice(0, 80)}`))) : [el("p", { class: "mute" }, replies.length ? "No such reply." : "There are no ready replies yet; replies.toml holds them.")]));
  $("ready").hidden = false;
  $("replies").setAttribute("aria-expanded", "true");
}
function closeReady() { $("ready").hidden = true; $("replies").setAttribute("aria-expanded", "false"); }
function insert(text) { $("words").value = text; closeReady(); keepDraft(); $("words").focus(); }
$("replies").addEventListener("click", () => { if ($("ready").hidden) openReady(); else closeReady(); });

$("suggest").addEventListener("click", () => tried(async () => {
  const own = talk, node = $("suggestion");
  node.hidden = false;
  node.replaceChildren(el("p", { class: "mute" }, "Looking into the documents …"));
  const { html, text, citations } = await (await post(`${API}/${own}/suggest`, {})).json();
  if (own !== talk) return;
  const links = citations.map(({ title, href }, place) => el("a", { class: "chip", href, target: "_blank", rel: "noopener" }, icon("doc"), el("span", {}, `${place + 1} ${title}`)));
  node.replaceChildren(written(el("div", { class: "body" }), html), el("div", { class: "chips" }, ...links), el("div", { class: "row" }, el("button", { type: "button", class: "primary", click: () => { insert(text.replace(/\s*\[\d+\]/g, "")); node.hidden = true; } }, "Use it"), el("button", { type: "button", class: "plain", click: () => { node.hidden = true; } }, "Dismiss")));
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
  const cards = [...document.querySelectorAll(".card")], at = cards.indexOf(document.activeElement.closest(".card"));
  if (event.key === "j" || event.key === "k") { event.preventDefault(); cards[Math.max(0, Math.min(cards.length - 1, at + (event.key === "j" ? 1 : -1)))]?.focus(); }
  if (event.key === "c" && talk && !$("claim").hidden) $("claim").click();
});
setInterval(() => { for (const node of document.querySelectorAll(".ago")) node.textContent = ago(node.dataset.since); }, 60000);
tried(begin);
