// Pages of those who look after it: what runs beside a page is followed until it is done.
import { ROOT, t } from "./words.js";

const progress = document.getElementById("progress");

async function follow() {
  const reply = await fetch(ROOT + "/api/v1/sync");
  if (!reply.ok) return;
  const { state, step, done, total } = await reply.json();
  const bar = progress.querySelector("progress");
  if (bar) { bar.hidden = state !== "running"; bar.max = total || 1; bar.value = done || 0; }
  const said = progress.querySelector("[data-step]");
  if (said) said.textContent = state === "running" ? `${t("panel.step_" + step)}${total ? ` · ${t("panel.progress_of", { done, total })}` : ""}` : "";
  if (state !== "running") location.reload();
  else setTimeout(follow, 1000);
}

if (progress?.dataset.state === "running") setTimeout(location.pathname.endsWith("/admin/sources") ? follow : () => location.reload(), 1500);

// On a small screen the pages are a row that scrolls; the one that is open stands in view.
const tabs = document.querySelector(".tabs"), open = tabs?.querySelector("[aria-current]");
if (open) tabs.scrollLeft = open.offsetLeft - (tabs.clientWidth - open.offsetWidth) / 2;

// Rating by keyboard: a digit takes that level of the criterion in focus and goes to the next.
const rating = document.querySelector(".rating");
if (rating) {
  const groups = [...rating.querySelectorAll("fieldset")];
  const focus = (group, options) => (group?.querySelector("input") ?? rating.querySelector("button")).focus(options);
  focus(groups[0], { preventScroll: true }); // first the answer is read
  rating.addEventListener("keydown", (event) => {
    const group = event.target.closest("fieldset");
    const choice = group && [...group.querySelectorAll("input")].find((one) => one.value === event.key);
    if (!choice) return;
    event.preventDefault();
    choice.checked = true;
    focus(groups[groups.indexOf(group) + 1]);
  });
}
