const cited = document.querySelector("mark");
if (cited) {
  const at = cited.closest("tr") ?? cited;
  at.id = "cited";
  document.getElementById("jump").hidden = false;
  const bring = (behavior) => at.scrollIntoView({ block: "center", behavior });
  if (location.hash === "" || location.hash === "#cited") bring("instant");
  document.getElementById("jump").addEventListener("click", (event) => { event.preventDefault(); bring("auto"); });
}
