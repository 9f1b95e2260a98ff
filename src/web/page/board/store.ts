// The board's facts, as the server sends them. One connection; a page that lost it starts anew when it is back.
import { useEffect, useState } from "preact/hooks";
import type { Hello, ProjectView, SectionChange } from "../../board/model.js";

export type Connection = "connecting" | "live" | "lost" | "refused";

export interface BoardState {
  readonly connection: Connection;
  readonly projects: readonly ProjectView[];
  readonly writeToken: string | null;
}

const START: BoardState = { connection: "connecting", projects: [], writeToken: null };

export function useBoard(): BoardState {
  const [state, setState] = useState(START);
  useEffect(() => {
    let source: EventSource | null = null;
    let again: ReturnType<typeof setTimeout> | undefined;
    let waiting: SectionChange[] = [];
    let frame = 0;
    // Many changes may come at once; the page is drawn once for all of them.
    const draw = () => {
      frame = 0;
      const changes = waiting;
      waiting = [];
      setState((before) => ({ ...before, projects: changes.reduce(changed, before.projects) }));
    };
    const open = () => {
      source = new EventSource("/events");
      source.addEventListener("hello", (event) => {
        const { projects, writeToken } = JSON.parse(event.data) as Hello;
        waiting = [];
        setState({ connection: "live", projects, writeToken: writeToken ?? null });
      });
      source.addEventListener("section", (event) => {
        waiting.push(JSON.parse(event.data) as SectionChange);
        if (frame === 0) frame = requestAnimationFrame(draw);
      });
      source.onerror = () => {
        const gone = source?.readyState === EventSource.CLOSED;
        setState((before) => ({ ...before, connection: gone ? "refused" : "lost" }));
        if (gone) again = setTimeout(open, 2_000);
      };
    };
    const close = () => {
      source?.close();
      source = null;
      clearTimeout(again);
    };
    // A browser has six connections to one server: a board that nobody looks at gives its own back.
    const look = () => {
      if (document.hidden) close();
      else if (source === null) open();
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => {
      document.removeEventListener("visibilitychange", look);
      close();
      cancelAnimationFrame(frame);
    };
  }, []);
  return state;
}

function changed(projects: readonly ProjectView[], change: SectionChange): readonly ProjectView[] {
  return projects.map((project) => {
    if (project.id !== change.project) return project;
    const { [change.section]: _, ...others } = project.problems;
    const problems = change.problem === null ? others : { ...others, [change.section]: change.problem };
    return { ...project, [change.section]: change.value, problems };
  });
}

export type Change =
  | { readonly action: "decide"; readonly issue: number; readonly decision: string }
  | { readonly action: "reopen"; readonly task: number }
  | { readonly action: "answer"; readonly run: string; readonly task: number; readonly text: string };

/** Sends a change; the answer is what to tell the person. */
export async function sendChange(token: string, project: number, change: Change): Promise<string> {
  const response = await fetch("/api/change", {
    method: "POST",
    headers: { "content-type": "application/json", "x-nutcracker-token": token },
    body: JSON.stringify({ project, ...change }),
  });
  if (!response.ok) throw new Error((await response.text()).trim());
  return ((await response.json()) as { message: string }).message;
}
