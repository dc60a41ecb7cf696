// Who asks, and as of which day: chosen around the box, kept for the next time.
import { day as dated, language, t } from "./words.js";

const NAMES = ["country", "role", "persona", "grade", "contract", "day"];

// changed(said, before): something else was chosen; `before` brings the old choice back.
export function asker(changed) {
  const pickers = {};
  for (const name of NAMES) {
    const picker = document.getElementById(name);
    if (picker) pickers[name] = picker;
  }
  const value = (name) => pickers[name]?.value ?? "";
  const chosen = () => Object.fromEntries(Object.keys(pickers).map((name) => [name, value(name)]));
  const keep = (name) => { try { if (name !== "day") localStorage.setItem(name, value(name)); } catch { /* private mode */ } };

  // A value that the page does not offer stays as it is.
  function choose(values) {
    for (const [name, wanted] of Object.entries(values)) {
      const picker = pickers[name];
      if (!picker || wanted == null || (picker.options && ![...picker.options].some((option) => option.value === wanted))) continue;
      picker.value = wanted;
      keep(name);
    }
    now = chosen();
    mark();
  }

  // What is not usual shows on the button that hides it.
  function mark() {
    const more = document.getElementById("more");
    if (more) more.toggleAttribute("data-set", ["grade", "contract", "day"].some(value));
  }

  const stored = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
  let now = {};
  choose(Object.fromEntries(NAMES.map((name) => [name, name === "day" ? null : stored(name)])));
  for (const [name, picker] of Object.entries(pickers)) {
    picker.addEventListener("change", () => {
      const before = now;
      keep(name);
      now = chosen();
      mark();
      changed(picker.selectedOptions?.[0].textContent ?? (picker.value ? t("thread.as_of", { day: dated(picker.value) }) : t("thread.as_of_today")), before);
    });
  }
  return {
    chosen,
    choose,
    asks: () => pickers.country?.focus(),
    isGlobal: () => !value("country") && pickers.country?.options.length > 1,
    day: () => (value("day") ? { as_of: value("day") } : {}),
    person: () => ({
      ...(pickers.country && { country: value("country") || null, roles: value("role") ? [value("role")] : [] }),
      ...(value("grade") && { grade: value("grade") }),
      ...(value("contract") && { contract: value("contract") }),
      language,
      ...(pickers.persona && { persona: value("persona") }),
    }),
  };
}
