// Under an answer: did it help, and why. The last word counts; nothing is asked twice.
import { post } from "./stream.js";
import { el, icon, t } from "./words.js";

const LONGEST = 2000;
let made = 0;

export function feedback({ id }) {
  if (!id) return null;
  const state = el("p", { class: "mute", role: "status" });
  const thumbs = [[1, "up", t("thread.helpful")], [-1, "down", t("thread.not_helpful")]].map(([thumb, name, label]) =>
    el("button", { type: "button", class: "plain thumb", "aria-pressed": "false", "aria-label": label, title: label, "data-thumb": thumb, click: () => rate(thumb) }, icon(name)));
  const label = `why-${++made}`;
  const words = el("textarea", { id: label, rows: "2", maxlength: LONGEST });
  const form = el("form", { hidden: true, submit: (event) => { event.preventDefault(); comment(); } },
    el("label", { for: label }, t("thread.comment")), words, el("button", { class: "plain" }, t("thread.send_comment")));
  let given = 0;

  const send = async (thumb, text, thanks) => {
    try {
      await post(`/api/v1/answers/${encodeURIComponent(id)}/feedback`, { thumb, comment: text });
      state.textContent = thanks;
      return true;
    } catch (error) {
      state.textContent = [error.message, error.hint].filter(Boolean).join(" ");
      return false;
    }
  };

  async function rate(thumb) {
    if (!await send(thumb, words.value, t("thread.thanks"))) return;
    given = thumb;
    for (const button of thumbs) button.setAttribute("aria-pressed", String(Number(button.dataset.thumb) === thumb));
    form.hidden = false;
  }

  async function comment() {
    if (!await send(given, words.value, t("thread.thanks_for_comment"))) return;
    form.hidden = true;
    thumbs.find((button) => Number(button.dataset.thumb) === given)?.focus();
  }

  return el("div", { class: "feedback", role: "group", "aria-label": t("thread.did_it_help") }, ...thumbs, state, form);
}
