// The daemon's HTTP face over one node: routes, encodings and their oddities.
import { Refused, rfcTime, sqlTime } from "./network.mjs";

const MAX_BODY = 50 * 1024 * 1024;

/** Field order and omissions as the daemon encodes a task. */
function taskJson(task, time) {
  const optional = {};
  for (const key of ["target_peer", "nutshell_hash", "nutshell_id", "bundle_type"]) {
    if (task[key]) optional[key] = task[key];
  }
  if (task.self_eval_score) optional.self_eval_score = task.self_eval_score;
  return {
    id: task.id,
    author_id: task.author_id,
    author_name: task.author_name,
    title: task.title,
    description: task.description,
    tags: task.tags,
    deadline: task.deadline,
    reward: task.reward,
    status: task.status,
    assigned_to: task.assigned_to,
    result: task.result,
    bid_close_at: rfcTime(task.bidCloseMs),
    work_deadline: rfcTime(task.workDeadlineMs),
    mode: task.mode,
    created_at: time(task.createdMs),
    updated_at: time(task.updatedMs),
    ...optional,
  };
}

const bidJson = ({ createdMs, ...bid }) => ({ ...bid, created_at: sqlTime(createdMs) });
const submissionJson = ({ submittedMs, ...one }) => ({ ...one, submitted_at: sqlTime(submittedMs) });

function boardTask(node, task) {
  return {
    id: task.id,
    title: task.title,
    status: task.status,
    author_name: task.author_name,
    assigned_to: task.assigned_to,
    bid_close_at: rfcTime(task.bidCloseMs),
    work_deadline: rfcTime(task.workDeadlineMs),
    created_at: sqlTime(task.createdMs),
    reward: task.reward,
    expected_pay: task.reward,
    bid_count: node.bids.filter((bid) => bid.task_id === task.id).length,
    sub_count: node.submissions.filter((one) => one.task_id === task.id).length,
    ...(task.target_peer ? { target_peer: task.target_peer } : {}),
  };
}

function board(node) {
  const all = [...node.tasks.values()];
  const mine = (task) => task.author_id === node.peerId;
  const bidOn = (task) => node.bids.some((bid) => bid.task_id === task.id && bid.bidder_id === node.peerId);
  const open = (task) =>
    task.status === "open" && !mine(task) && !bidOn(task) && (!task.target_peer || task.target_peer === node.peerId);
  const rows = (keep) =>
    all
      .filter(keep)
      .slice(0, 50)
      .map((task) => boardTask(node, task));
  return {
    my_published: rows(mine),
    my_assigned: rows((task) => task.assigned_to === node.peerId),
    open_tasks: rows(open),
  };
}

function balance(node) {
  const account = node.account ?? { balance: 0, frozen: 0, total_earned: 0, total_spent: 0 };
  return {
    peer_id: node.peerId,
    balance: account.balance,
    energy: account.balance,
    frozen: account.frozen,
    prestige: 0,
    tier: { level: 1, name: "Plankton", name_zh: "", emoji: "", min_energy: 0 },
    regen_rate: 0,
    total_earned: account.total_earned,
    total_spent: account.total_spent,
    updated_at: node.account === null ? "" : sqlTime(node.network.now()),
    currency: "CNY",
    currency_symbol: "¥",
    exchange_rate: 1,
    local_value: `¥${account.balance}`,
  };
}

/** Go's strict decoding of a JSON object; the bare error text is what the daemon sends on. */
function json(body) {
  if (body.length === 0) throw new Refused(400, "EOF", "bare");
  let value;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    throw new Refused(400, "invalid character in literal", "bare");
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new Refused(400, "json: cannot unmarshal into Go value", "bare");
  }
  return value;
}

function wholeAmount(body) {
  const value = json(body);
  if (value.amount !== undefined && !Number.isInteger(value.amount)) {
    throw new Refused(
      400,
      `json: cannot unmarshal number ${value.amount} into Go struct field .amount of type int64`,
      "bare",
    );
  }
  return { amount: value.amount ?? 0, message: value.message ?? "" };
}

/** Reads a bundle from a raw or multipart body. */
function bundleBytes(request) {
  const type = request.headers["content-type"] ?? "";
  if (request.tooLarge) {
    const words = type.startsWith("multipart/") ? "invalid multipart form" : "bundle too large or read error";
    throw new Refused(400, words);
  }
  if (!type.startsWith("multipart/")) return request.body;
  const boundary = /boundary="?([^";]+)"?/.exec(type)?.[1];
  const parts = request.body.toString("latin1").split(`--${boundary}`);
  const part = parts.find((text) => /name="bundle"/.test(text));
  if (part === undefined) throw new Refused(400, "missing bundle field in form");
  return Buffer.from(part.slice(part.indexOf("\r\n\r\n") + 4, part.lastIndexOf("\r\n")), "latin1");
}

function listTasks(node, query) {
  const whole = (name, fallback) => (/^\d+$/.test(query.get(name) ?? "") ? Number(query.get(name)) : fallback);
  const status = query.get("status");
  return [...node.tasks.values()]
    .filter((task) => !status || task.status === status)
    .sort((a, b) => b.createdMs - a.createdMs)
    .slice(whole("offset", 0), whole("offset", 0) + whole("limit", 50))
    .map((task) => taskJson(task, sqlTime));
}

function created(node, { task, milestone }) {
  const flat = taskJson(task, rfcTime);
  return node.network.profile === "legacy-0.9.9" ? flat : { task: flat, ...milestone };
}

/** `METHOD /path/{id}` → handler(node, request, id). What it returns is sent as JSON. */
export const ROUTES = {
  "GET /api/status": (node) => ({
    peer_id: node.peerId,
    version: node.network.profile === "legacy-0.9.9" ? "0.9.9" : "1.0.0-beta.9",
    peers: node.network.nodes.length - 1,
    topics: ["/clawnet/tasks"],
    data_dir: "/nowhere",
    unread_dm: 0,
    geo_db: "",
    started_at: 0,
    next_action: { hint: "", endpoint: "" },
    milestones: { completed: node.milestones.size, total: 6 },
    achievements: 0,
  }),
  "GET /api/profile": (node) => ({
    agent_name: node.name,
    visibility: "public",
    domains: [],
    capabilities: [],
    bio: "",
  }),
  "GET /api/credits/balance": balance,
  "GET /api/credits/transactions": (node) => node.transactions,
  "GET /api/resume": (node) => node.resume,
  "PUT /api/resume": (node, request) => {
    const { skills, data_sources, description } = json(request.body);
    for (const value of [skills, data_sources]) {
      if (value !== undefined && !Array.isArray(value)) {
        throw new Refused(400, "json: cannot unmarshal string into Go struct field of type []string", "bare");
      }
    }
    node.resume = { skills: skills ?? [], data_sources: data_sources ?? [], description: description ?? "" };
    return { status: "saved" };
  },
  "GET /api/tasks": (node, request) => listTasks(node, request.query),
  "POST /api/tasks": (node, request) => created(node, node.create(json(request.body))),
  "GET /api/tasks/board": board,
  "GET /api/tasks/{id}": (node, _request, id) => taskJson(node.find(id), sqlTime),
  "POST /api/tasks/{id}/claim": (node, request, id) => node.claim(id, () => json(request.body)),
  "POST /api/tasks/{id}/bid": (node, request, id) => bidJson(node.bid(id, wholeAmount(request.body))),
  "GET /api/tasks/{id}/bids": (node, _request, id) => node.bids.filter((bid) => bid.task_id === id).map(bidJson),
  "POST /api/tasks/{id}/assign": (node, request, id) => node.assign(id, () => json(request.body)),
  "POST /api/tasks/{id}/submit": (node, request, id) => node.submit(id, () => json(request.body)),
  "POST /api/tasks/{id}/approve": (node, _request, id) => node.approve(id),
  "POST /api/tasks/{id}/reject": (node, _request, id) => node.reject(id),
  "POST /api/tasks/{id}/cancel": (node, _request, id) => node.cancel(id),
  "POST /api/tasks/{id}/work": (node, request, id) => submissionJson(node.work(id, () => json(request.body))),
  "GET /api/tasks/{id}/submissions": (node, _request, id) =>
    node.submissions.filter((one) => one.task_id === id).map(submissionJson),
  "POST /api/tasks/{id}/pick": (node, request, id) => node.pick(id, () => json(request.body)),
  "POST /api/tasks/{id}/deliver": (node, request, id) => node.deliver(id, () => bundleBytes(request)),
  "POST /api/tasks/{id}/bundle": (node, request, id) => {
    node.find(id);
    const { hash, size } = node.storeBundle(id, bundleBytes(request));
    return { task_id: id, hash, size };
  },
  "GET /api/tasks/{id}/bundle": (node, _request, id) => {
    const { bytes, hash } = node.fetchBundle(id);
    const headers = {
      "Content-Type": "application/octet-stream",
      "Content-Disposition": `attachment; filename="${id}.nut"`,
      "X-Nutshell-Hash": hash,
    };
    return { raw: bytes, headers };
  },
};

/** @returns {{status: number, headers: Record<string, string>, body: Buffer}} */
export function answer(node, request) {
  const path = request.path;
  if (path.includes("//")) return plain(405, "Method Not Allowed\n", { Allow: "GET, HEAD" });
  const words = path.split("/");
  const methods = [];
  // An exact route wins over one with {id}, as in Go's ServeMux.
  for (const exact of [true, false]) {
    for (const [route, handler] of Object.entries(ROUTES)) {
      const [method, pattern] = route.split(" ");
      const parts = pattern.split("/");
      if (parts.includes("{id}") === exact || parts.length !== words.length) continue;
      if (!parts.every((part, i) => part === "{id}" || part === words[i])) continue;
      methods.push(method);
      if (method === request.method || (method === "GET" && request.method === "HEAD")) {
        return call(node, handler, request, decodeURIComponent(words[parts.indexOf("{id}")] ?? ""));
      }
    }
  }
  if (methods.length > 0) return plain(405, "Method Not Allowed\n", { Allow: methods.join(", ") });
  return plain(404, "404 page not found\n");
}

function call(node, handler, request, id) {
  try {
    const result = handler(node, request, id);
    if (result?.raw !== undefined) return { status: 200, headers: result.headers, body: result.raw };
    return { status: 200, headers: { "Content-Type": "application/json" }, body: encode(result) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.shape === "structured") {
      const body = encode({ error: error.message, ...error.extra });
      return { status: error.status, headers: { "Content-Type": "application/json" }, body };
    }
    return plain(error.status, error.shape === "bare" ? `${error.message}\n` : `{"error":"${error.message}"}\n`, {
      "X-Content-Type-Options": "nosniff",
    });
  }
}

const plain = (status, text, headers = {}) => ({
  status,
  headers: { "Content-Type": "text/plain; charset=utf-8", ...headers },
  body: Buffer.from(text),
});

/** Go's encoder escapes these and ends with a newline. */
function encode(value) {
  const text = JSON.stringify(value).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);
  return Buffer.from(`${text}\n`);
}

export { MAX_BODY };
