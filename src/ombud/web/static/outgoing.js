// Messages that the server may not have yet: kept over a reload, sent in order, each with its own id until it is there.
import { Trouble, post } from "./stream.js";

const KEY = "outgoing", PAUSE = 1500;
const all = () => { try { return JSON.parse(localStorage.getItem(KEY) ?? "{}"); } catch { return {}; } };
const keep = (kept) => { try { localStorage.setItem(KEY, JSON.stringify(kept)); } catch { /* private mode */ } };

// address(conversation) -> where to post; refused(conversation, message, error): the server will not have it.
export function outgoing({ address, sent, refused }) {
  let busy = false;

  const of = (conversation) => all()[conversation] ?? [];
  const set = (conversation, messages) => {
    const kept = all();
    if (messages.length) kept[conversation] = messages; else delete kept[conversation];
    keep(kept);
  };

  async function flush(conversation) {
    if (busy) return;
    busy = true;
    try {
      for (let [message] = of(conversation); message; [message] = of(conversation)) {
        try {
          const response = await post(address(conversation), message);
          sent?.(conversation, message, await response.json());
        } catch (error) {
          const isFinal = error instanceof Trouble && error.status >= 400 && error.status < 500 && error.status !== 429;
          if (!isFinal) { setTimeout(() => flush(conversation), PAUSE); return; }
          refused?.(conversation, message, error);
        }
        set(conversation, of(conversation).filter(({ id }) => id !== message.id));
      }
    } finally { busy = false; }
  }

  return {
    waiting: of,
    flush,
    add(conversation, text) {
      const message = { id: crypto.randomUUID(), text };
      set(conversation, [...of(conversation), message]);
      flush(conversation);
      return message;
    },
  };
}
