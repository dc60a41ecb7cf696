// One's own conversations: found again, named, deleted. Ctrl-K opens the list.
import { send } from "./stream.js";
import { el, icon } from "./words.js";

const BASE = "/api/v1/conversations", PAUSE = 200;
const day = (iso) => (iso ? new Date(iso).toLocaleDateString([], { day: "numeric", month: "short", year: "numeric" }) : "");

// open(conversation): go on in it; gone(id): it was deleted.
export function conversations(dialog, { open, gone, current }) {
  const list = dialog.querySelector("ul"), search = dialog.querySelector("input"), state = dialog.querySelector("[role=status]");
  let known = [], timer = 0, asked = 0;

  async function load() {
    const own = ++asked, words = search.value.trim();
    try {
      const response = await send("GET", words ? `${BASE}?q=${encodeURIComponent(words)}` : BASE);
      const { conversations: found } = await response.json();
      if (own !== asked) return;
      known = found;
      draw(words);
    } catch (error) {
      state.textContent = [error.message, error.hint].filter(Boolean).join(" ");
    }
  }

  function draw(words) {
    list.replaceChildren(...known.map(line));
    state.textContent = known.length ? `${known.length} conversation${known.length === 1 ? "" : "s"}` : words ? "Nothing found." : "Nothing was asked yet.";
  }

  function line(one) {
    const act = (name, text, click) => el("button", { type: "button", class: "quiet", "aria-label": `${text}: ${one.title}`, title: text, click }, icon(name));
    const row = el("li", { "data-id": one.id },
      el("button", { type: "button", class: "chosen", "aria-current": one.id === current() ? "true" : null, click: () => { dialog.close(); open(one); } },
        el("span", { dir: "auto" }, one.title), el("time", { class: "mute" }, day(one.at))),
      act("new", "Rename", () => rename(one, row)), act("bin", "Delete", () => remove(one, row)));
    return row;
  }

  function rename(one, row) {
    const name = el("input", { value: one.title, maxlength: 200, "aria-label": "Name" });
    const form = el("form", { submit: async (event) => {
      event.preventDefault();
      await told(async () => { await send("PATCH", `${BASE}/${one.id}`, { title: name.value }); await load(); focus(one.id); });
    } }, name, el("button", { class: "plain" }, "Save"), el("button", { type: "button", class: "plain", click: () => { row.replaceWith(line(one)); focus(one.id); } }, "Cancel"));
    row.replaceChildren(form);
    name.select();
  }

  function remove(one, row) {
    const yes = el("button", { type: "button", class: "plain strong", click: () => told(async () => {
      await send("DELETE", `${BASE}/${one.id}`);
      gone(one.id);
      await load();
      search.focus();
    }) }, "Delete");
    row.replaceChildren(el("p", {}, `Delete “${one.title}”? It cannot be brought back.`), yes, el("button", { type: "button", class: "plain", click: () => { row.replaceWith(line(one)); focus(one.id); } }, "Keep"));
    yes.focus();
  }

  async function told(act) {
    try { await act(); } catch (error) { state.textContent = [error.message, error.hint].filter(Boolean).join(" "); }
  }

  const focus = (id) => list.querySelector(`[data-id="${id}"] .chosen`)?.focus();

  search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(load, PAUSE); });
  dialog.addEventListener("keydown", (event) => {
    if (!["ArrowDown", "ArrowUp"].includes(event.key)) return;
    const rows = [search, ...list.querySelectorAll(".chosen")], at = rows.indexOf(document.activeElement);
    if (at < 0) return;
    event.preventDefault();
    rows[Math.max(0, Math.min(rows.length - 1, at + (event.key === "ArrowDown" ? 1 : -1)))].focus();
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.querySelector(".close").addEventListener("click", () => dialog.close());

  return function show() {
    if (dialog.open) { dialog.close(); return; }
    search.value = "";
    list.replaceChildren(); // what was there may be gone
    dialog.showModal();
    search.focus();
    load();
  };
}
