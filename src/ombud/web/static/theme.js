// Runs before the page is drawn, so that a chosen appearance never flashes.
(() => {
  const looks = ["system", "light", "dark"];
  const root = document.documentElement;
  const kept = () => { try { return localStorage.getItem("look"); } catch { return null; } };
  let look = looks.includes(kept()) ? kept() : "system";
  const show = () => {
    root.dataset.look = look;
    const button = document.getElementById("look");
    if (!button) return;
    const name = button.dataset[look];
    button.setAttribute("aria-label", name);
    button.title = name;
    button.querySelector("use").setAttribute("href", `#i-${look}`);
  };
  show();
  document.addEventListener("DOMContentLoaded", () => {
    show();
    document.getElementById("look")?.addEventListener("click", () => {
      look = looks[(looks.indexOf(look) + 1) % looks.length];
      try { localStorage.setItem("look", look); } catch { /* private mode: only for this page */ }
      show();
    });
  });
})();
