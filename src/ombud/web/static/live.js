// The one WebSocket of a tab. It tells what happens, goes on where it was, and comes back by itself, unless the server has
// closed it for good: a code from 4000 on, with a sentence for people as its reason.
import { ROOT } from "./words.js";

const FOR_GOOD = 4000, FIRST = 500, GROWTH = 1.6, LONGEST = 15000, PULSE = 25000, PATIENCE = 3000;

// heard: { events(conversation, session, events), typing(conversation, typing), desk(board), state("up" | "down"), trouble(error), ended(reason) }
export function live(heard) {
  const watched = new Map();
  let socket = null, tries = 0, timer = 0, pulse = 0, answered = true, late = 0, sitting = false, over = false;

  const send = (said) => { if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(said)); };

  function open() {
    clearTimeout(timer);
    if (over || socket) return;
    const own = socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${ROOT}/live`);
    own.addEventListener("open", () => {
      tries = 0;
      answered = true;
      clearTimeout(late);
      late = 0;
      heard.state?.("up");
      if (sitting) send({ desk: true });
      for (const [conversation, after] of watched) send({ watch: conversation, after });
      pulse = setInterval(beat, PULSE);
    });
    own.addEventListener("message", ({ data }) => hear(JSON.parse(data)));
    own.addEventListener("close", ({ code, reason }) => {
      clearInterval(pulse);
      if (socket === own) socket = null;
      if (code >= FOR_GOOD && !over) {
        over = true;
        clearTimeout(late);
        heard.ended?.(reason);
      }
      if (over) return;
      late ||= setTimeout(() => heard.state?.("down"), PATIENCE);
      timer = setTimeout(open, Math.min(FIRST * GROWTH ** tries++, LONGEST) * (.5 + Math.random() / 2));
    });
  }

  // A connection that says nothing any more looks like one in which nothing happens.
  function beat() {
    if (!answered) socket?.close();
    answered = false;
    send({ ping: 1 });
  }

  function hear(said) {
    answered = true;
    if (said.typing) heard.typing?.(said.conversation, said.typing);
    else if (said.desk) heard.desk?.(said.desk);
    else if (said.error) heard.trouble?.(said.error);
    else if (said.conversation && watched.has(said.conversation)) {
      const place = watched.get(said.conversation), fresh = said.events.filter((event) => event.place > place);
      if (fresh.length) watched.set(said.conversation, fresh.at(-1).place);
      heard.events?.(said.conversation, said.session, fresh);
    }
  }

  const again = () => { if (!over && !socket && (watched.size || sitting)) { tries = 0; open(); } };
  addEventListener("online", again);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) again(); });

  return {
    watch(conversation, after = 0) { watched.set(conversation, after); if (socket?.readyState === WebSocket.OPEN) send({ watch: conversation, after }); else open(); },
    unwatch(conversation) { watched.delete(conversation); send({ unwatch: conversation }); },
    typing(conversation, on) { send({ typing: conversation, on }); },
    desk() { sitting = true; if (socket?.readyState === WebSocket.OPEN) send({ desk: true }); else open(); },
    leave() { over = true; clearTimeout(timer); clearTimeout(late); socket?.close(); },
  };
}
