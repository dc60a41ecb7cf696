// Signing in inside a frame: a window of its own does it and hands back a code, which counts once.
const ROOT = new URL("../..", import.meta.url).pathname.slice(0, -1);
const show = (id) => { document.getElementById(id).hidden = false; };
let opened = null;

document.getElementById("popup").addEventListener("click", () => {
  opened = window.open(`${ROOT}/login/done`, "_blank", "popup,width=480,height=680");
  if (!opened) show("blocked");
});

addEventListener("message", async (event) => {
  if (event.origin !== location.origin || event.source !== opened || typeof event.data?.code !== "string") return;
  const reply = await fetch(`${ROOT}/login/frame`, { method: "POST", body: new URLSearchParams({ code: event.data.code }) });
  if (!reply.ok) { show("refused"); return; }
  const next = new URLSearchParams(location.search).get("next") ?? "/";
  location.replace(ROOT + (next.startsWith("/?") ? next : "/"));
});
