// Wide tables on a narrow screen: what a row cites stands in a column of its own, which stays in view.
import { el } from "./words.js";

export function tidy(body) {
  for (const table of body.querySelectorAll("table")) {
    const rows = [...table.querySelectorAll("tr")].filter((row) => row.querySelector(".cite"));
    if (!rows.length || table.querySelector(".cites")) continue;
    for (const row of table.querySelectorAll("tr")) {
      const isHead = row.closest("thead"), cites = [...row.querySelectorAll(".cite")];
      row.append(el(isHead ? "th" : "td", { class: "cites", ...(isHead && { scope: "col" }) }, isHead && el("span", { class: "vh" }, "Source"), ...cites));
    }
  }
}
