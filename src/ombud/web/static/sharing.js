// The link by which colleagues read a conversation: made, copied and withdrawn by its owner.
import { send } from "./stream.js";
import { ROOT, t } from "./words.js";

// own(): where the API has the link of the conversation that is open.
export function sharing(dialog, own) {
  const link = dialog.querySelector("input"), state = dialog.querySelector("[role=status]");
  const [copy, withdraw] = dialog.querySelectorAll(".acts button");

  async function show(response) {
    const { href } = await response.json();
    link.value = href ? new URL(ROOT + href, location.origin).href : "";
    link.hidden = withdraw.hidden = !href;
  }

  const told = (act) => async () => {
    state.textContent = "";
    try { await act(); } catch (error) { state.textContent = [error.message, error.hint].filter(Boolean).join(" "); }
  };

  copy.addEventListener("click", told(async () => {
    await show(await send("PUT", own()));
    link.select();
    // A frame of another site may not write to the clipboard; the link is selected all the same.
    await navigator.clipboard.writeText(link.value).then(() => { state.textContent = t("thread.copied"); }, () => {});
  }));
  withdraw.addEventListener("click", told(async () => {
    await send("DELETE", own());
    link.hidden = withdraw.hidden = true;
    state.textContent = t("thread.link_withdrawn");
    copy.focus();
  }));
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.querySelector(".close").addEventListener("click", () => dialog.close());

  return told(async () => {
    link.hidden = withdraw.hidden = true;
    dialog.showModal();
    await show(await send("GET", own()));
  });
}
