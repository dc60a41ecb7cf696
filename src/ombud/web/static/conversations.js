// One's own conversations: found again, named, pinned, deleted. On a wide screen they stand beside the chat, else in a
// dialog. Ctrl-K leads to them.
import { send } from "./stream.js";
import { day, el, icon, t } from "./words.js";

const BASE = "/api/v1/conversations", PAUSE = 200, DAY = 24 * 3600 * 1000;
const wide = matchMedia("(min-width: 1200px)");

// Days count by the calendar, also when the clocks change.
const midnight = (date) => new Date(date).setHours(0, 0, 0, 0);
function group({ pinned, at }) {
  if (pinned) return t("thread.pinned");
  const days = Math.round((midnight(new Date()) - midnight(at)) / DAY);
  return days < 1 ? t("thread.today") : days < 2 ? t("thread.yesterday") : days < 8 ? t("thread.previous_week") : t("thread.older");
}

// open(conversation): go on in it; gone(id): it was deleted; closed(is): whether the list beside the chat is closed, also
// as it was left.
export function conversations(dialog, side, opener, { open, gone, current, closed }) {
  const talks = dialog.querySelector(".talks"), list = talks.querySelector(".groups"), search = talks.querySelector("input"), state = talks.querySelector("[role=status]");
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
    const held = list.contains(document.activeElement) && document.activeElement.closest("[data-id]")?.dataset.id;
    const groups = new Map();
    for (const one of [...known].sort((a, b) => b.pinned - a.pinned)) groups.set(group(one), [...(groups.get(group(one)) ?? []), one]);
    list.replaceChildren(...[...groups].map(([name, ones]) => el("section", {}, el("h3", {}, name), el("ul", { "aria-label": name }, ...ones.map(line)))));
    if (held) focus(held);
    state.textContent = known.length ? t("thread.conversations", { count: known.length }) : words ? t("thread.nothing_found") : t("thread.nothing_asked");
  }

  function line(one) {
    const act = (name, text, click, extra) => el("button", { type: "button", class: "quiet", ...extra, "aria-label": t("thread.act_on", { action: text, title: one.title }), title: text, click }, icon(name));
    const row = el("li", { "data-id": one.id },
      el("button", { type: "button", class: "chosen", "aria-current": one.id === current() ? "true" : null, click: () => { dialog.close(); open(one); mark(); } },
        el("span", { dir: "auto" }, one.title), el("time", { class: "mute" }, one.at && day(one.at, { dateStyle: "medium" }))),
      el("span", { class: "tools" }, act("pin", t("thread.pin"), () => pin(one), { "aria-pressed": String(one.pinned) }),
        act("new", t("thread.rename"), () => rename(one, row)), act("bin", t("thread.delete"), () => remove(one, row))));
    return row;
  }

  const pin = (one) => told(async () => { await send("PATCH", `${BASE}/${one.id}`, { pinned: !one.pinned }); await load(); });

  function mark() {
    for (const chosen of list.querySelectorAll(".chosen")) {
      if (chosen.parentElement.dataset.id === current()) chosen.setAttribute("aria-current", "true"); else chosen.removeAttribute("aria-current");
    }
  }

  function rename(one, row) {
    const name = el("input", { value: one.title, maxlength: 200, "aria-label": t("thread.name") });
    const form = el("form", { submit: async (event) => {
      event.preventDefault();
      await told(async () => { await send("PATCH", `${BASE}/${one.id}`, { title: name.value }); await load(); focus(one.id); });
    } }, name, el("button", { class: "plain" }, t("thread.save")), el("button", { type: "button", class: "plain", click: () => { row.replaceWith(line(one)); focus(one.id); } }, t("thread.cancel")));
    row.replaceChildren(form);
    name.select();
  }

  function remove(one, row) {
    const yes = el("button", { type: "button", class: "plain strong", click: () => told(async () => {
      await send("DELETE", `${BASE}/${one.id}`);
      gone(one.id);
      await load();
      search.focus();
    }) }, t("thread.delete"));
    row.replaceChildren(el("p", {}, t("thread.really_delete", { title: one.title })), yes, el("button", { type: "button", class: "plain", click: () => { row.replaceWith(line(one)); focus(one.id); } }, t("thread.keep")));
    yes.focus();
  }

  async function told(act) {
    try { await act(); } catch (error) { state.textContent = [error.message, error.hint].filter(Boolean).join(" "); }
  }

  const focus = (id) => list.querySelector(`[data-id="${id}"] .chosen`)?.focus();

  search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(load, PAUSE); });
  talks.addEventListener("keydown", (event) => {
    if (!["ArrowDown", "ArrowUp"].includes(event.key)) return;
    const rows = [search, ...list.querySelectorAll(".chosen")], at = rows.indexOf(document.activeElement);
    if (at < 0) return;
    event.preventDefault();
    rows[Math.max(0, Math.min(rows.length - 1, at + (event.key === "ArrowDown" ? 1 : -1)))].focus();
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  talks.querySelector(".close").addEventListener("click", () => { if (wide.matches) turn(false); else dialog.close(); });
  opener.addEventListener("click", () => { if (wide.matches) turn(side.hidden); else show(); });

  // Beside the chat: opened and closed until it is changed.
  function turn(on) {
    closed(!on);
    lay();
    if (on) search.focus(); else opener.focus();
  }

  function lay() {
    if (wide.matches && dialog.open) dialog.close();
    const place = wide.matches ? side : dialog;
    if (talks.parentElement !== place) place.append(talks);
    side.hidden = !wide.matches || closed();
    if (wide.matches) opener.setAttribute("aria-expanded", String(!side.hidden)); else opener.removeAttribute("aria-expanded");
    if (!side.hidden) load();
  }

  function show() {
    if (wide.matches) { turn(true); return; }
    if (dialog.open) { dialog.close(); return; }
    search.value = "";
    list.replaceChildren(); // what was there may be gone
    dialog.showModal();
    search.focus();
    load();
  }

  wide.addEventListener("change", lay);
  lay();
  // refresh: a conversation has begun or another one is open; what is being renamed or deleted is left alone.
  return { show, refresh: () => { if (side.hidden) return; if (list.querySelector("form, li > p")) mark(); else load(); } };
}
