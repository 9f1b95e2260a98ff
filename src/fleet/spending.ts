// What a tenant may begin and spend in a day. Workers hold it, since they are the ones that spend: nothing is begun above it.
import { JetStreamApiError } from "@nats-io/jetstream";
import { type FleetSettings, Spent } from "../schema/fleet.js";
import type { Fleet } from "./fleet.js";

const KEY = "spent";
const MOST_CONFLICTS = 50;

const dayOf = (now: Date): string => now.toISOString().slice(0, 10);

const nothing = (day: string): Spent => ({ day, jobs: 0, tokens: 0, cost_usd: 0 });

/** Which limit is reached; null when more may be begun. */
export function reached({ limits }: Pick<FleetSettings, "limits">, spent: Spent): string | null {
  if (limits.jobs !== undefined && spent.jobs >= limits.jobs) return `jobs=${limits.jobs}`;
  if (limits.tokens !== undefined && spent.tokens >= limits.tokens) return `tokens=${limits.tokens}`;
  if (limits.cost_usd !== undefined && spent.cost_usd >= limits.cost_usd) return `cost=${limits.cost_usd}`;
  return null;
}

const isLimited = ({ limits }: Pick<FleetSettings, "limits">): boolean => Object.keys(limits).length > 0;

export async function spentOn({ ownSettings }: Pick<Fleet, "ownSettings">, now: Date) {
  const entry = await ownSettings.get(KEY);
  const parsed = Spent.safeParse(entry === null || entry.operation !== "PUT" ? null : entry.json());
  const today = dayOf(now);
  const spent = parsed.success && parsed.data.day === today ? parsed.data : nothing(today);
  return { spent, revision: entry?.revision ?? 0 };
}

/** Counted before the result is: a worker that dies in between has counted too much, never too little. */
export async function addSpent(
  fleet: Pick<Fleet, "settings" | "ownSettings">,
  now: Date,
  more: { readonly tokens: number; readonly cost_usd: number },
): Promise<void> {
  if (!isLimited(fleet.settings)) return;
  await change(fleet, now, (spent) => ({
    ...spent,
    tokens: spent.tokens + more.tokens,
    cost_usd: spent.cost_usd + more.cost_usd,
  }));
}

/** A job is begun, if the day has room for it. Of two workers that ask at once for the last place, one gets it. */
export async function beginOne(fleet: Pick<Fleet, "settings" | "ownSettings">, now: Date): Promise<boolean> {
  if (!isLimited(fleet.settings)) return true;
  return change(fleet, now, (spent) =>
    reached(fleet.settings, spent) === null ? { ...spent, jobs: spent.jobs + 1 } : null,
  );
}

async function change(
  fleet: Pick<Fleet, "ownSettings">,
  now: Date,
  make: (spent: Spent) => Spent | null,
): Promise<boolean> {
  for (let conflicts = 0; ; conflicts += 1) {
    const { spent, revision } = await spentOn(fleet, now);
    const next = make(spent);
    if (next === null) return false;
    try {
      if (revision === 0) await fleet.ownSettings.create(KEY, JSON.stringify(next));
      else await fleet.ownSettings.update(KEY, JSON.stringify(next), revision);
      return true;
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || error.code !== 10071 || conflicts >= MOST_CONFLICTS) throw error;
    }
  }
}
