import type { Fleet } from "../../../fleet/index.js";
import { Worker } from "../../../schema/fleet.js";

/** Every worker that was heard of in the last minutes. */
export async function listWorkers(fleet: Pick<Fleet, "workers" | "settings">, now: Date) {
  const workers: (Worker & { readonly silent: boolean })[] = [];
  for await (const entry of await fleet.workers.history({ key: ">" })) {
    const parsed = Worker.safeParse(entry.operation === "PUT" ? entry.json() : null);
    if (!parsed.success) continue;
    // By the server's clock: a worker's own may be anywhere.
    const silent = now.getTime() - entry.created.getTime() > fleet.settings.lease_ms;
    workers.push({ ...parsed.data, silent });
  }
  return workers.sort((a, b) => (a.id < b.id ? -1 : 1));
}
