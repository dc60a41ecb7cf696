// The panel beside an answer: every citation with the sentence it quotes, marked in its surroundings.
import { passage, quoted } from "./passage.js";
import { ROOT, country, day, el, icon, t } from "./words.js";

const stage = document.getElementById("stage"), panel = document.getElementById("panel");
const list = document.getElementById("sources"), title = document.getElementById("panel-title");
const narrow = matchMedia("(max-width: 900px)");
const read = new Map();
let opener = null, shown = null;

// Names the text that a citation counts in: the bytes, and the version of the parsers that read them.
const version = ({ digest, parser }) => (parser ? `${digest}.${parser}` : digest);

const query = (citation, person, more = {}) => {
  const values = new URLSearchParams({ digest: version(citation), ...more });
  for (const name of ["country", "grade", "contract"]) if (person[name]) values.set(name, person[name]);
  for (const role of person.roles) values.append("role", role);
  return values;
};

function text(citation, person) {
  const address = `/api/v1/documents/${encodeURIComponent(citation.document_id)}?${query(citation, person)}`;
  if (!read.has(address)) {
    read.set(address, fetch(ROOT + address).then((response) => (response.ok ? response.json() : null)).catch(() => null).then((found) => {
      if (!found) read.delete(address); // ask again next time
      return found;
    }));
  }
  return read.get(address);
}

// What was the rule on another day must not be taken for what it is now.
function force({ effective_from: from, effective_to: to }) {
  const today = new Date().toLocaleDateString("sv"); // as 2026-01-31
  if (to && to < today) return t("thread.no_longer", { day: day(to) });
  return from && from > today ? t("thread.not_yet", { day: day(from) }) : "";
}

export const named = ({ title, page }) => (page ? t("thread.page_of", { title, page }) : title);

// The page of the cited document, with the cited passage in view.
export const documentAt = (citation, citations, person) => `/documents/${encodeURIComponent(citation.document_id)}?${query(citation, person, { start: citation.start, end: citation.end, cites: places(citations, citation) })}#cited`;

// Rows of one table are one source, and so are sentences that follow each other.
const isRow = ({ quote }) => quote.startsWith("|");
const isBeside = (one, other) => one.document_id === other.document_id && version(one) === version(other) && one.trail.join() === other.trail.join();
const goesOn = (before, after) => isBeside(before, after) && after.start >= before.end && after.start - before.end <= 2;
function grouped(citations) {
  const groups = [];
  citations.forEach((citation, index) => {
    const same = isRow(citation)
      ? groups.find(([{ citation: other }]) => isRow(other) && isBeside(other, citation))
      : groups.find((group) => !isRow(group[0].citation) && goesOn(group.at(-1).citation, citation));
    if (same) same.push({ citation, number: index + 1 }); else groups.push([{ citation, number: index + 1 }]);
  });
  return groups;
}

// Sentences marked as one; the rows that the others cite, in the table around the first.
function joined(found, group) {
  const [{ citation }] = group;
  if (!isRow(citation)) {
    const quote = group.map(({ citation: one }) => one.quote).join(" ");
    return passage(found, { ...citation, quote, end: group.at(-1).citation.end });
  }
  const [first, ...others] = group.map(({ citation: one }) => passage(found, one));
  const body = first?.map((node) => node.querySelector?.("tbody")).find(Boolean);
  if (!body) return first;
  for (const nodes of others) {
    for (const row of nodes?.flatMap((node) => [...(node.querySelectorAll?.("tbody tr") ?? [])]) ?? []) {
      const there = [...body.rows].find((one) => one.textContent === row.textContent);
      if (!row.querySelector("mark")) continue;
      if (there) there.replaceWith(row); else body.append(row);
    }
  }
  return first;
}

// All places of one version, so that its page leads from one to the next.
const places = (citations, cited) => citations.filter((one) => one.document_id === cited.document_id && version(one) === version(cited)).slice(0, 60).map(({ start, end }) => `${start}-${end}`).join();

function card(group, person, citations) {
  const [{ citation }] = group, numbers = group.map(({ number }) => number), number = numbers.join(", ");
  const words = group.map(({ citation: { quote } }) => quote).join("\n");
  const quote = el("blockquote", { dir: "auto" }, ...group.map((one) => el("p", {}, ...quoted(one.citation))));
  const place = el("span", {}, citation.scope === "local" ? person.country && country(person.country) : t("thread.global"));
  const meta = [citation.page && t("thread.page", { number: citation.page }), citation.trail.filter((heading) => heading !== citation.title).join(" › ")];
  const copy = async (event) => {
    const span = event.currentTarget.querySelector("span");
    await navigator.clipboard.writeText(t("thread.quotation", { words, source: named(citation) }));
    span.textContent = t("thread.copied");
    setTimeout(() => { span.textContent = t("thread.copy_quote"); }, 2000);
  };
  const address = documentAt(citation, citations, person);
  const loaded = text(citation, person).then((found) => {
    const nodes = found && joined(found, group);
    if (found?.countries.length) place.textContent = found.countries.map(country).join(", ");
    if (nodes) quote.replaceChildren(...nodes);
    else quote.after(el("p", { class: "mute" }, t("thread.no_surroundings")));
  });
  const made = el("li", {}, el("article", { class: "source", "data-numbers": numbers.join(" "), tabindex: -1, "aria-label": t("thread.source_number", { number }) },
    el("header", {}, el("span", { class: "number" }, number), el("h3", {}, citation.title)),
    el("p", { class: "meta" }, place, meta.filter(Boolean).map((words) => ` · ${words}`).join("")),
    force(citation) && el("p", { class: "badge none" }, force(citation)),
    quote,
    el("footer", {},
      el("a", { class: "plain", href: address, target: "_blank", rel: "noopener" }, icon("doc"), el("span", {}, t("thread.open_document")), el("span", { class: "vh" }, `: ${t("thread.in_new_tab", { title: citation.title })}`)),
      el("button", { type: "button", class: "plain", click: copy }, icon("copy"), el("span", {}, t("thread.copy_quote"))))));
  return [made, loaded];
}

// What was read for an answer: each document once, with a link to its page. A passage is named by its document and a digest.
export async function readDocuments(passages, person) {
  const counts = new Map();
  for (const name of passages) {
    const id = name.slice(0, name.lastIndexOf("-"));
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return Promise.all([...counts].map(async ([id, count]) => {
    const found = await text({ document_id: id, digest: "" }, person);
    const address = `/documents/${encodeURIComponent(id)}?${query({ digest: "" }, person)}`;
    return el("li", {}, found ? el("a", { href: address, target: "_blank", rel: "noopener" }, found.title) : t("thread.document_gone"), count > 1 && ` (${t("thread.passages", { count })})`);
  }));
}

// On a small screen the panel is a sheet above the rest, which then cannot be reached.
function cover() {
  const modal = !panel.hidden && narrow.matches;
  stage.inert = modal;
  panel.setAttribute("role", modal ? "dialog" : "complementary");
  if (modal) panel.setAttribute("aria-modal", "true");
  else panel.removeAttribute("aria-modal");
}

export function sources(answer, number, from, person) {
  for (const old of document.querySelectorAll(".cite.on")) old.classList.remove("on");
  opener = from;
  if (from.matches(".cite")) from.classList.add("on");
  let loads = [];
  if (shown !== answer || panel.hidden) {
    const groups = grouped(answer.citations), cards = groups.map((group) => card(group, person, answer.citations));
    list.replaceChildren(...cards.map(([made]) => made));
    loads = cards.map(([, loaded]) => loaded);
    title.textContent = t("thread.sources", { count: groups.length });
    shown = answer;
  }
  panel.hidden = false;
  cover();
  const target = list.querySelector(`[data-numbers~="${number}"]`);
  for (const one of list.querySelectorAll(".source")) one.classList.toggle("on", one === target);
  target.focus({ preventScroll: true });
  const bring = () => { list.scrollTop = target.parentElement.offsetTop - 6; };
  bring();
  Promise.all(loads).then(bring); // the passages around the quotes move the cards
}

sources.close = () => {
  if (panel.hidden) return;
  panel.hidden = true;
  cover();
  opener?.classList.remove("on");
  if (opener?.isConnected) opener.focus();
};

document.getElementById("close").addEventListener("click", sources.close);
document.addEventListener("keydown", (event) => { if (event.key === "Escape") sources.close(); });
document.addEventListener("pointerdown", (event) => { if (narrow.matches && !panel.contains(event.target)) sources.close(); });
narrow.addEventListener("change", cover);
