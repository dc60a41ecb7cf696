// An answer as it grows: POST, then server-sent events.
export class Trouble extends Error {
  constructor(detail, hint = "", status = 0) { super(detail); this.hint = hint; this.status = status; }
}

export const post = (address, body, signal) => send("POST", address, body, signal);

export async function send(method, address, body, signal) {
  let response;
  try {
    response = await fetch(address, { method, headers: body ? { "content-type": "application/json" } : {}, body: body && JSON.stringify(body), signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Trouble("The assistant cannot be reached.", "Your question is still below.");
  }
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  throw new Trouble(said.detail ?? `The server answered ${response.status}.`, said.hint ?? "", response.status);
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
  if (!ended) throw new Trouble("The connection broke before the answer was complete.", "Your question is still below.");
}
