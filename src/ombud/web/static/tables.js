// What the rows of a table cite stands in a column of its own; on a narrow screen each row is a card, with it at the foot.
import { el, t } from "./words.js";

const ROLES = { "thead, tbody": "rowgroup", tr: "row", "thead th": "columnheader", td: "cell" };

export function tidy(body) {
  for (const table of body.querySelectorAll("table")) {
    const rows = [...table.querySelectorAll("tr")].filter((row) => row.querySelector(".cite"));
    if (table.querySelector(".cites")) continue;
    const names = [...table.querySelectorAll("thead th")].map((head) => head.textContent);
    for (const row of table.querySelectorAll("tbody tr")) [...row.cells].forEach((cell, index) => cell.setAttribute("data-name", names[index] ?? ""));
    for (const row of rows.length ? table.querySelectorAll("tr") : []) {
      const isHead = row.closest("thead"), cites = [...row.querySelectorAll(".cite")];
      row.append(el(isHead ? "th" : "td", { class: "cites", ...(isHead && { scope: "col" }) }, isHead && el("span", { class: "vh" }, t("thread.source")), ...cites));
    }
    // A card is no longer laid out as a table, but read as one.
    table.setAttribute("role", "table");
    for (const [name, role] of Object.entries(ROLES)) for (const one of table.querySelectorAll(name)) one.setAttribute("role", role);
    table.parentElement.classList.add("cards");
  }
}
