// Small things that both pages need.

// Messages in the page's language, which the server delivers with the page; their keys are those of its catalogue.
const messages = JSON.parse(document.querySelector("meta[name=words]")?.content ?? "{}");
export const language = document.documentElement.lang;
const plural = new Intl.PluralRules(language);
export function t(key, values = {}) {
  const found = messages[key], text = Array.isArray(found) ? found[plural.select(values.count) === "one" ? 0 : 1] : found;
  if (text === undefined) throw new Error(`no message ${key}`);
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

// Dates and numbers as in the reader's region, if the browser names one of this language.
export const locale = navigator.languages.find((one) => one.split("-")[0] === language) ?? language;
export const clock = (iso) => new Date(iso).toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" });
export const day = (iso, style = { dateStyle: "long" }) => new Date(iso).toLocaleString(locale, style);
const regions = new Intl.DisplayNames([locale], { type: "region", fallback: "code" });
export const country = (code) => regions.of(code);

// The path below which we are served: empty, or such as /ombud behind a proxy.
export const ROOT = new URL("../..", import.meta.url).pathname.slice(0, -1);

// An element with attributes and children; strings become text, never HTML.
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value != null) made.setAttribute(key, key === "href" && value.startsWith("/") ? ROOT + value : value);
  }
  made.append(...children.filter((child) => child != null && child !== false));
  return made;
}

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  svg.setAttribute("class", "i");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

// What an answer is, as its class and in words.
export function badge({ outcome, action, claims, suggestions }) {
  if (action === "handoff") return ["person", t("thread.badge_person")];
  if (action === "clarify") return ["ask", suggestions.length ? t("thread.badge_clarify") : t("thread.badge_here")];
  if (outcome === "full") return ["full", t("thread.badge_full")];
  if (outcome === "partial") return ["partial", t("thread.badge_partial")];
  if (action === "contact" && claims.length > 0) return ["partial", t("thread.badge_not_sure")];
  return action === "contact" ? ["none", t("thread.badge_none")] : ["outside", t("thread.badge_outside")];
}
