// Which tasks to start now. Pure: what is done, what runs, what is allowed → the next starts.
import type { RunTask } from "./plan.js";

export interface Scheduled {
  readonly task: RunTask;
  readonly writes: boolean;
}

export interface ScheduleFacts {
  readonly tasks: readonly RunTask[];
  readonly done: ReadonlySet<number>;
  /** Neither done nor to be started: running, waiting for a merge, failed for good. */
  readonly busy: ReadonlySet<number>;
  readonly running: readonly RunTask[];
  readonly jobs: number;
  /** Whether a role may change files. */
  readonly writes: (owner: string) => boolean;
}

/** Ready tasks in plan order, as many as there is room for, never two writers whose files may overlap. */
export function nextTasks({ tasks, done, busy, running, jobs, writes }: ScheduleFacts): RunTask[] {
  const started: RunTask[] = [];
  const writers = running.filter(({ owner }) => writes(owner));
  for (const task of tasks) {
    if (running.length + started.length >= jobs) break;
    if (done.has(task.id) || busy.has(task.id)) continue;
    if (!task.deps.every((dep) => done.has(dep))) continue;
    if (writes(task.owner)) {
      if (writers.some((other) => mayOverlap(task, other))) continue;
      writers.push(task);
    }
    started.push(task);
  }
  return started;
}

/** Whether two tasks could touch the same file. A task that does not say which files it changes may touch any. */
export function mayOverlap(a: RunTask, b: RunTask): boolean {
  if (a.files === undefined || b.files === undefined) return true;
  return a.files.some((one) => b.files!.some((other) => pathsOverlap(one, other)));
}

/** `src/` holds `src/a.ts`; `src/*.ts` may hold anything under `src`. */
export function pathsOverlap(a: string, b: string): boolean {
  const left = stem(a);
  const right = stem(b);
  return left === right || within(left, right) || within(right, left);
}

/** Whether `path` is one of the declared files, or lies in one of the declared folders or patterns. */
export function pathAllowed(path: string, allowed: readonly string[]): boolean {
  return allowed.some((entry) => {
    const clean = normal(entry);
    if (/[*?]/.test(clean)) return globMatches(clean, path);
    return clean === "" || path === clean || within(clean, path);
  });
}

const normal = (path: string) => path.replace(/^\.\//, "").replace(/\/+$/, "");

/** The part of a pattern before its first wildcard, cut at a folder. */
function stem(path: string): string {
  const clean = normal(path);
  const star = clean.search(/[*?]/);
  if (star < 0) return clean;
  return clean.slice(0, Math.max(0, clean.lastIndexOf("/", star)));
}

const within = (folder: string, path: string) => folder === "" || path.startsWith(`${folder}/`);

function globMatches(pattern: string, path: string): boolean {
  const source = pattern
    .split(/(\*\*\/?|\*|\?)/)
    .map((part) => {
      if (part.startsWith("**")) return ".*";
      if (part === "*") return "[^/]*";
      if (part === "?") return "[^/]";
      return part.replace(/[.+^${}()|[\]\\]/g, "\\$&");
    })
    .join("");
  return new RegExp(`^${source}$`).test(path);
}
