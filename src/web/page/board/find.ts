// What the board can be searched for: what the page knows, and contents the server looks into.
import type { ContentFound, FleetView, ProjectView } from "../../board/model.js";
import { askJson } from "../ask-server.js";
import type { Found } from "../search.js";

const at = (project: ProjectView, view: string, rest = "", params: Record<string, string> = {}) => {
  const path = rest === "" ? "" : `/${rest.split("/").map(encodeURIComponent).join("/")}`;
  return `#/${view}${path}?${new URLSearchParams({ project: project.name, ...params })}`;
};

export function knownIn(project: ProjectView): Found[] {
  const task = (of: string) => (row: { id: number; title: string; stage: string; owner: string }) => ({
    kind: "task",
    text: `${row.id} ${row.title}`,
    detail: `${row.stage}, ${row.owner}`,
    href: at(project, "tasks", String(row.id), { of }),
  });
  return [
    ...project.runs.map(({ id, title, verdict }) => ({
      kind: "run",
      text: title || id,
      detail: `${id}, ${verdict.word}`,
      href: at(project, "run", id),
    })),
    ...project.runs.flatMap((run) => run.tasks.rows.map(task(run.id))),
    ...(project.tasks?.rows ?? []).map(task("project")),
    ...project.runs.flatMap(({ id, criteria }) =>
      criteria.map((one) => ({
        kind: "criterion",
        text: one.id,
        detail: `${one.text} (${one.status})`,
        href: at(project, "run", id),
      })),
    ),
    ...(project.plan?.issues ?? []).map(({ title, status, decision }) => ({
      kind: "issue",
      text: title,
      detail: `${status} ${decision}`,
      href: at(project, "plan"),
    })),
    ...project.runs.flatMap(({ id, sessions }) =>
      sessions.flatMap(({ agent, files }) =>
        files.map(({ path, change }) => ({
          kind: "file",
          text: path,
          detail: `${change} by ${agent}`,
          href: at(project, "run", id, { agent, part: "diff", file: path }),
        })),
      ),
    ),
    ...project.artifacts.map(({ name }) => ({
      kind: "artifact",
      text: name,
      detail: "",
      href: at(project, "artifacts", name),
    })),
  ];
}

export function knownInFleet({ jobs }: FleetView): Found[] {
  return jobs.map(({ id, title, state, worker }) => ({
    kind: "job",
    text: title,
    detail: [id, state, worker].filter((word) => word !== "").join(", "),
    href: `#/fleet/${id}`,
  }));
}

/** Contents of artifacts, and what sessions were told and reported. */
export async function foundBy(project: ProjectView, words: string): Promise<Found[]> {
  const found = await askJson<readonly ContentFound[]>(
    `/api/search?project=${project.id}&words=${encodeURIComponent(words)}`,
  );
  return found.map(({ name, run, agent, part, line, text }) => ({
    kind: "content",
    text: run === "" ? `${name}:${line}` : `${agent} ${part}:${line}`,
    detail: text,
    href: run === "" ? at(project, "artifacts", name) : at(project, "run", run, { agent, part }),
  }));
}
