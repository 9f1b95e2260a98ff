import { type Fleet, newestOf } from "../../../fleet/index.js";
import { Worker } from "../../../schema/fleet.js";

/** Every worker that was heard of in the last minutes. */
export async function listWorkers(fleet: Pick<Fleet, "workers" | "settings">, now: Date) {
  const workers = await newestOf(fleet.workers, (entry) => {
    const { data } = Worker.safeParse(entry.json());
    // By the server's clock: a worker's own may be anywhere.
    const silent = now.getTime() - entry.created.getTime() > fleet.settings.lease_ms;
    return data === undefined ? null : { ...data, silent };
  });
  return workers.sort((a, b) => (a.id < b.id ? -1 : 1));
}
