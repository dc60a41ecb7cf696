// An answer as it grows: POST, then server-sent events.
import { ROOT, t } from "./words.js";

export class Trouble extends Error {
  constructor(detail, hint = "", status = 0) { super(detail); this.hint = hint; this.status = status; }
}

export const post = (address, body, signal) => send("POST", address, body, signal);

export async function send(method, address, body, signal) {
  let response;
  try {
    response = await fetch(ROOT + address, { method, headers: body ? { "content-type": "application/json" } : {}, body: body && JSON.stringify(body), signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Trouble(t("thread.unreachable"), t("thread.question_kept"));
  }
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  throw new Trouble(said.detail ?? t("thread.server_answered", { status: response.status }), said.hint ?? "", response.status);
}

export async function* events(address, body, signal) {
  const response = await post(address, body, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let kept = "", ended = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      kept += value;
      const whole = kept.split("\n\n");
      kept = whole.pop();
      for (const event of whole) {
        const name = event.match(/^event: (.*)$/m)?.[1], data = event.match(/^data: (.*)$/m)?.[1];
        if (!name) continue;
        ended ||= name === "answer" || name === "error";
        yield [name, JSON.parse(data)];
      }
    }
  } catch (error) {
    if (error.name === "AbortError" || error instanceof Trouble) throw error;
  }
  if (!ended) throw new Trouble(t("thread.connection_broke"), t("thread.question_kept"));
}
