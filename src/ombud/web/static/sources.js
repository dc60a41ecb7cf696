// The panel beside an answer: every citation with the sentence it quotes, marked in its surroundings.
import { passage } from "./passage.js";
import { country, el, icon } from "./words.js";

const stage = document.getElementById("stage"), panel = document.getElementById("panel");
const list = document.getElementById("sources"), title = document.getElementById("panel-title");
const narrow = matchMedia("(max-width: 900px)");
const read = new Map();
let opener = null, shown = null;

const query = (citation, person, more = {}) => {
  const values = new URLSearchParams({ digest: citation.digest, ...more });
  if (person.country) values.set("country", person.country);
  for (const role of person.roles) values.append("role", role);
  return values;
};

function text(citation, person) {
  const address = `/api/v1/documents/${encodeURIComponent(citation.document_id)}?${query(citation, person)}`;
  if (!read.has(address)) {
    read.set(address, fetch(address).then((response) => (response.ok ? response.json() : null)).catch(() => null).then((found) => {
      if (!found) read.delete(address); // ask again next time
      return found;
    }));
  }
  return read.get(address);
}

// What was the rule on another day must not be taken for what it is now.
function force({ effective_from: from, effective_to: to }) {
  const today = new Date().toLocaleDateString("sv"); // as 2026-01-31
  if (to && to < today) return `No longer in force since ${to}`;
  return from && from > today ? `Not in force before ${from}` : "";
}

function card(citation, number, person) {
  const quote = el("blockquote", { dir: "auto" }, el("p", {}, el("mark", {}, citation.quote)));
  const meta = [citation.scope === "local" && person.country ? country(person.country) : "Global", citation.page && `Page ${citation.page}`, citation.trail.filter((heading) => heading !== citation.title).join(" › ")];
  const copy = async (event) => {
    const span = event.currentTarget.querySelector("span");
    await navigator.clipboard.writeText(`“${citation.quote}” (${citation.title}${citation.page ? `, page ${citation.page}` : ""})`);
    span.textContent = "Copied";
    setTimeout(() => { span.textContent = "Copy quote"; }, 2000);
  };
  const address = `/documents/${encodeURIComponent(citation.document_id)}?${query(citation, person, { start: citation.start, end: citation.end })}#cited`;
  const loaded = text(citation, person).then((found) => {
    const nodes = found && passage(found, citation);
    if (nodes) quote.replaceChildren(...nodes);
    else quote.after(el("p", { class: "mute" }, "The text around this sentence is not available now."));
  });
  const made = el("li", {}, el("article", { class: "source", id: `source-${number}`, tabindex: -1, "aria-label": `Source ${number}` },
    el("header", {}, el("span", { class: "number" }, String(number)), el("h3", {}, citation.title)),
    el("p", { class: "meta" }, meta.filter(Boolean).join(" · ")),
    force(citation) && el("p", { class: "badge none" }, force(citation)),
    quote,
    el("footer", {},
      el("a", { class: "plain", href: address, target: "_blank", rel: "noopener" }, icon("doc"), el("span", {}, "Open document"), el("span", { class: "vh" }, `: ${citation.title}, in a new tab`)),
      el("button", { type: "button", class: "plain", click: copy }, icon("copy"), el("span", {}, "Copy quote")))));
  return [made, loaded];
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
    const cards = answer.citations.map((citation, index) => card(citation, index + 1, person));
    list.replaceChildren(...cards.map(([made]) => made));
    loads = cards.map(([, loaded]) => loaded);
    title.textContent = answer.citations.length === 1 ? "Source" : `${answer.citations.length} sources`;
    shown = answer;
  }
  panel.hidden = false;
  cover();
  for (const one of list.querySelectorAll(".source")) one.classList.toggle("on", one.id === `source-${number}`);
  const target = document.getElementById(`source-${number}`);
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
