// Starting a run of a request from the page.
import { useState } from "preact/hooks";
import type { Start } from "../../board/actions.js";
import type { RequestRow } from "../../board/model.js";
import { askJson } from "../ask-server.js";
import { useLoaded } from "../data.js";
import { Card } from "../parts.js";
import { visible } from "../visible.js";
import { ActionButton, type Writing } from "./acting.js";

const DRIVERS = ["demo", "codex", "claude", "opencode"];

interface StartProps {
  readonly project: number;
  readonly writing: Writing | null;
  readonly isOpen: boolean;
}

export function StartRun({ project, writing, isOpen }: StartProps) {
  const found = useLoaded(() => askJson<readonly RequestRow[]>(`/api/requests?project=${project}`), [project]);
  const requests = found.state === "there" ? found.value : [];
  const [start, setStart] = useState<Start>({
    ...{ request: "", driver: "", budget: "", answer: "" },
    ...{ reviewPlan: false, allowInstall: false },
  });
  const set = (part: Partial<Start>) => setStart((before) => ({ ...before, ...part }));
  const request = start.request || (requests[0]?.path ?? "");
  return (
    <Card class="start-run">
      <details open={isOpen}>
        <summary>
          <h2>Start a run</h2>
        </summary>
        <div class="start-form">
          <label class="wide">
            <span class="soft">Request: a .nut file or a folder, from the project's folder</span>
            <input
              type="text"
              list={`requests-${project}`}
              value={request}
              onInput={(event) => set({ request: event.currentTarget.value })}
            />
            <datalist id={`requests-${project}`}>
              {requests.map(({ path, title }) => (
                <option key={path} value={path}>
                  {visible(title)}
                </option>
              ))}
            </datalist>
          </label>
          <label>
            <span class="soft">Program</span>
            <select value={start.driver} onChange={(event) => set({ driver: event.currentTarget.value })}>
              <option value="">as configured, or the one logged in</option>
              {DRIVERS.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <label>
            <span class="soft">Limits</span>
            <input
              type="text"
              placeholder="time=30m,tokens=500k,cost=5"
              value={start.budget}
              onInput={(event) => set({ budget: event.currentTarget.value })}
            />
          </label>
          <label class="tick">
            <input
              type="checkbox"
              checked={start.reviewPlan}
              onChange={(event) => set({ reviewPlan: event.currentTarget.checked })}
            />{" "}
            I read the plan before anything is done
          </label>
          <label class="tick">
            <input
              type="checkbox"
              checked={start.allowInstall}
              onChange={(event) => set({ allowInstall: event.currentTarget.checked })}
            />{" "}
            What its checks need may be installed
          </label>
        </div>
        <ActionButton
          writing={writing}
          isPrimary
          label="Start"
          disabled={request.trim() === ""}
          action={{ action: "start", ...start, request: request.trim() || "task.nut" }}
        />
      </details>
    </Card>
  );
}
