// The board's facts, as the server sends them. One connection; a page that lost it starts anew when it is back.
import { useEffect, useState } from "preact/hooks";
import type { Acted, Action, Agreement } from "../../board/actions.js";
import type { FleetView, Hello, ProjectView, SectionChange, WaitingNow } from "../../board/model.js";
import { ask, askJson } from "../ask-server.js";

export type Connection = "connecting" | "live" | "lost" | "refused";

export interface BoardState {
  readonly connection: Connection;
  readonly projects: readonly ProjectView[];
  readonly fleet: FleetView | null;
  readonly mayWrite: boolean;
  /** The command line that starts this board. */
  readonly command: string;
  /** What waited when last asked, while nobody looked; null when somebody does. */
  readonly glanced: WaitingNow | null;
}

const START: BoardState = {
  ...{ connection: "connecting", projects: [], fleet: null, mayWrite: false, command: "", glanced: null },
};
const GLANCE_MS = 3_000;
const AGAIN_MS = 500;
/** The server says something every 15 s; a connection that is silent for longer is gone without a word. */
const SILENCE_MS = 40_000;

export function useBoard(): BoardState {
  const [state, setState] = useState(START);
  useEffect(() => {
    let current: AbortController | null = null;
    let again: ReturnType<typeof setTimeout> | undefined;
    let glance: ReturnType<typeof setInterval> | undefined;
    let waiting: SectionChange[] = [];
    let frame = 0;
    // Many changes may come at once; the page is drawn once for all of them.
    const draw = () => {
      frame = 0;
      const changes = waiting;
      waiting = [];
      setState((before) => ({ ...before, projects: changes.reduce(changed, before.projects) }));
    };
    const hear = (name: string, data: string) => {
      if (name === "hello") {
        waiting = [];
        setState((before) => ({ ...before, connection: "live", ...(JSON.parse(data) as Hello) }));
      } else if (name === "fleet") {
        setState((before) => ({ ...before, fleet: JSON.parse(data) as FleetView }));
      } else if (name === "section") {
        waiting.push(JSON.parse(data) as SectionChange);
        if (frame === 0) frame = requestAnimationFrame(draw);
      }
    };
    const open = () => {
      const mine = new AbortController();
      current = mine;
      followEvents(mine, hear).then((connection) => {
        if (mine !== current) return;
        setState((before) => ({ ...before, connection }));
        again = setTimeout(open, connection === "lost" ? AGAIN_MS : 4 * AGAIN_MS);
      });
    };
    const close = () => {
      current?.abort();
      current = null;
      clearTimeout(again);
    };
    // A browser has six connections to one server: a board that nobody looks at gives its own back, and only asks now and
    // then how much waits for the person.
    const look = () => {
      if (document.hidden) {
        close();
        clearInterval(glance);
        glance = setInterval(() => {
          askJson<WaitingNow>("/api/waiting").then(
            (waiting) => setState((before) => ({ ...before, glanced: waiting })),
            () => {},
          );
        }, GLANCE_MS);
      } else {
        clearInterval(glance);
        setState((before) => ({ ...before, glanced: null }));
        if (current === null) open();
      }
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => {
      document.removeEventListener("visibilitychange", look);
      clearInterval(glance);
      close();
      cancelAnimationFrame(frame);
    };
  }, []);
  return state;
}

/** Reads the event stream to its end, and says why it ended. EventSource sends no key, so this does what it does. */
async function followEvents(
  controller: AbortController,
  hear: (name: string, data: string) => void,
): Promise<"lost" | "refused"> {
  let silence: ReturnType<typeof setTimeout> | undefined;
  try {
    const response = await ask("/events", { signal: controller.signal });
    if (!response.ok) return response.status === 403 ? "refused" : "lost";
    const decoder = new TextDecoder();
    let text = "";
    for (const reader = response.body!.getReader(); ; ) {
      clearTimeout(silence);
      silence = setTimeout(() => controller.abort(), SILENCE_MS);
      const { done, value } = await reader.read();
      if (done) return "lost";
      const parts = (text + decoder.decode(value, { stream: true })).split("\n\n");
      text = parts.pop()!;
      for (const part of parts) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(part)?.[1] ?? "";
        hear(field("event"), field("data"));
      }
    }
  } catch {
    return "lost";
  } finally {
    clearTimeout(silence);
  }
}

function changed(projects: readonly ProjectView[], change: SectionChange): readonly ProjectView[] {
  return projects.map((project) => {
    if (project.id !== change.project) return project;
    const { [change.section]: _, ...others } = project.problems;
    const problems = change.problem === null ? others : { ...others, [change.section]: change.problem };
    return { ...project, [change.section]: change.value, problems };
  });
}

/** Sends it; the answer is what to tell the person. `agreed`: their yes to the question it was answered with before. */
export async function sendAction(project: number, action: Action, agreed: Agreement | null): Promise<Acted> {
  return askJson<Acted>("/api/change", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ project, ...action, ...(agreed === null ? {} : { agreed }) }),
  });
}
