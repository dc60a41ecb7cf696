import { country } from "./words.js";

for (const tag of document.querySelectorAll("[data-country]")) tag.textContent = tag.dataset.country.split(", ").map(country).join(", ");
for (const option of document.querySelectorAll("#countries option[value]")) if (option.value) option.textContent = country(option.value);
const cited = document.querySelector("mark");
if (cited) {
  const at = cited.closest("tr") ?? cited;
  at.id = "cited";
  document.getElementById("jump").hidden = false;
  const bring = (behavior) => at.scrollIntoView({ block: "center", behavior });
  if (location.hash === "" || location.hash === "#cited") bring("instant");
  document.getElementById("jump").addEventListener("click", (event) => { event.preventDefault(); bring("auto"); });
}
