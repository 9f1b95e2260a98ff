// What a ClawNet daemon sends. Shapes differ between its versions; these schemas read all of them into one.
import { z } from "zod";

export const TASK_STATUSES = ["open", "assigned", "submitted", "approved", "rejected", "cancelled", "settled"] as const;

/** `["a","b"]` as a JSON text, `a,b`, an empty text, `null` as a text, or a real list. */
export function readTags(value: unknown): string[] {
  if (Array.isArray(value)) return value.filter((tag): tag is string => typeof tag === "string");
  if (typeof value !== "string" || value === "" || value === "null") return [];
  if (value.startsWith("[")) {
    try {
      return readTags(JSON.parse(value));
    } catch {
      return [];
    }
  }
  return value
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
}

/** RFC 3339, or `YYYY-MM-DD HH:MM:SS` meaning UTC; what cannot be read stays as it is. */
export function readTime(value: unknown): string {
  if (typeof value !== "string") return "";
  const text = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(value) ? `${value.replace(" ", "T")}Z` : value;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? value : time.toISOString();
}

const text = z.string().catch("");
const whole = z.number().int().catch(0);
const time = z.unknown().optional().transform(readTime);

const RawTask = z
  .looseObject({ id: z.string().optional(), task_id: z.string().optional() })
  .transform((raw, context) => {
    const inner =
      typeof raw.task === "object" && raw.task !== null ? { ...(raw.task as Record<string, unknown>) } : raw;
    const id = inner.id ?? inner.task_id ?? raw.id ?? raw.task_id;
    if (typeof id !== "string" || id === "") {
      context.addIssue({ code: "custom", message: "has no task id" });
      return z.NEVER;
    }
    return { ...inner, id } as Record<string, unknown> & { id: string };
  });

export const MarketTask = RawTask.pipe(
  z.object({
    id: z.string(),
    author_id: text,
    author_name: text,
    title: text,
    description: text,
    tags: z.unknown().optional().transform(readTags),
    deadline: text,
    reward: whole,
    status: text,
    assigned_to: text,
    result: text,
    target_peer: text,
    mode: text,
    bid_close_at: time,
    work_deadline: time,
    created_at: time,
    updated_at: time,
    nutshell_hash: text,
    nutshell_id: text,
    bundle_type: text,
    self_eval_score: z.number().catch(0),
  }),
);

export const MarketBid = z.object({
  id: z.string(),
  task_id: text,
  bidder_id: text,
  bidder_name: text,
  amount: whole,
  message: text,
  created_at: time,
});

export const MarketSubmission = z.object({
  id: z.string(),
  task_id: text,
  worker_id: text,
  worker_name: text,
  result: text,
  is_winner: z.boolean().catch(false),
  submitted_at: time,
});

export const BoardTask = z.object({
  id: z.string(),
  title: text,
  status: text,
  author_name: text,
  assigned_to: text,
  work_deadline: time,
  created_at: time,
  target_peer: text,
  reward: whole,
  bid_count: whole,
  sub_count: whole,
});

export const Board = z.object({
  my_published: z.array(BoardTask).catch([]),
  my_assigned: z.array(BoardTask).catch([]),
  open_tasks: z.array(BoardTask).catch([]),
});

/** `balance` already excludes what is frozen: it is what can be spent. */
export const Balance = z.object({
  peer_id: text,
  balance: z.number().int(),
  frozen: whole,
  total_earned: whole,
  total_spent: whole,
});

export const DaemonStatus = z.object({ peer_id: z.string().min(1), version: text, peers: whole });

export type MarketTask = z.infer<typeof MarketTask>;
export type MarketBid = z.infer<typeof MarketBid>;
export type MarketSubmission = z.infer<typeof MarketSubmission>;
export type Balance = z.infer<typeof Balance>;
export type DaemonStatus = z.infer<typeof DaemonStatus>;
