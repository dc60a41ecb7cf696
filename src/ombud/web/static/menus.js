// Menus close on Escape, on a choice, on a click or the focus elsewhere, and when another opens.
function shut(but = null) {
  for (const menu of document.querySelectorAll("details.menu[open]")) if (menu !== but) menu.open = false;
}

function leave(menu) {
  menu.querySelector("summary").focus(); // also where a dialog hands the focus back to
  menu.open = false;
}

document.addEventListener("click", ({ target }) => {
  const menu = target.closest("details.menu");
  if (menu?.open && target.closest("button")) leave(menu);
  shut(menu);
}, true);
document.addEventListener("focusin", ({ target }) => shut(target.closest("details.menu")));
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && document.querySelector("details.menu[open]");
  if (!menu) return;
  event.stopPropagation(); // one thing at a time: the sources stay open
  leave(menu);
}, true);
