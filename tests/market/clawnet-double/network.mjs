// Long because: one stand-in for one daemon, written from one source.
// The nodes, their ledgers and the gossip between them, as the contract describes the daemon. No HTTP in here.
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { identityFromSeed } from "./identity.mjs";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const GRANT = 4200;
const FEE_PERCENT = 5;

export const fee = (reward) => Math.floor((reward * FEE_PERCENT) / 100);

/** A refusal with the daemon's own status and text. `shape` says which of the three error encodings it uses. */
export class Refused extends Error {
  constructor(status, message, shape = "json-text", extra = {}) {
    super(message);
    Object.assign(this, { status, shape, extra });
  }
}

export class Network {
  constructor({ nodes, profile }) {
    this.profile = profile;
    this.offsetMs = 0;
    this.gossipMode = "immediate";
    this.queue = [];
    this.cut = new Set();
    this.nodes = Array.from({ length: nodes }, (_, index) => new Node(this, index));
  }

  now() {
    return Date.now() + this.offsetMs;
  }

  publish(from, message) {
    this.queue.push({ from, message: structuredClone(message) });
    if (this.gossipMode === "immediate") this.deliver();
  }

  deliver() {
    while (this.queue.length > 0) {
      const { from, message } = this.queue.shift();
      for (const node of this.nodes) {
        if (node.index !== from && !this.cut.has(node.index) && !this.cut.has(from)) node.receive(message);
      }
    }
  }

  /** The settler's minute tick on every node. */
  tick() {
    for (const node of this.nodes) node.settle();
  }
}

class Node {
  constructor(network, index) {
    this.network = network;
    this.index = index;
    this.identity = identityFromSeed(randomBytes(32));
    this.peerId = this.identity.peerId;
    this.name = `node-${index}`;
    this.tasks = new Map();
    this.bids = [];
    this.submissions = [];
    this.bundles = new Map();
    this.transactions = [];
    this.milestones = new Set();
    this.resume = { skills: [], data_sources: [], description: "" };
    this.account = { balance: GRANT, frozen: 0, total_earned: 0, total_spent: 0 };
    this.queuePublishes = false;
  }

  // --- tasks -------------------------------------------------------------------------------------------------------

  create(body) {
    const text = (key) => (typeof body[key] === "string" ? body[key] : "");
    const reward = Number.isInteger(body.reward) ? body.reward : 0;
    if (text("title") === "") {
      throw new Refused(400, "title_required", "structured", { message: "A title is required." });
    }
    if (reward < 0) throw new Refused(400, "invalid_reward", "structured", { message: "Reward cannot be negative." });
    if (reward > 0 && reward < 100) {
      throw new Refused(400, "reward_too_low", "structured", {
        message: "Minimum reward is 100 Shell (or 0 for help-wanted tasks).",
        help_endpoint: "GET /api/credits/balance",
      });
    }
    if (reward >= 100) this.burnFee(reward);
    const task = this.insert({
      title: body.title,
      description: text("description"),
      tags: encodeTags(body.tags),
      deadline: text("deadline"),
      reward: reward <= 0 ? 1 : reward,
      mode: body.mode === "auction" ? "auction" : "simple",
      target_peer: text("target_peer"),
      nutshell_hash: text("nutshell_hash"),
      nutshell_id: text("nutshell_id"),
      bundle_type: text("bundle_type"),
    });
    // The row exists and the fee is gone before the freeze is tried: a failure leaves a ghost.
    this.freeze(task.reward);
    if (this.queuePublishes) throw new Refused(500, "publish (queued for retry): no peers");
    this.network.publish(this.index, { type: "task", task });
    return { task, milestone: this.milestone("first_task_publish", 500) };
  }

  insert(fields) {
    const created = this.network.now();
    const task = {
      id: randomUUID(),
      author_id: this.peerId,
      author_name: this.name,
      status: "open",
      assigned_to: "",
      result: "",
      self_eval_score: 0,
      ...fields,
      createdMs: created,
      updatedMs: created,
    };
    this.tasks.set(task.id, task);
    this.recomputeClock(task);
    return task;
  }

  recomputeClock(task) {
    const bids = this.bids.filter((bid) => bid.task_id === task.id).length;
    task.bidCloseMs = task.createdMs + Math.min(30 * MINUTE + 5 * MINUTE * bids, 4 * HOUR);
    task.workDeadlineMs = task.bidCloseMs + 2 * HOUR;
  }

  find(id) {
    const task = this.tasks.get(id);
    if (task === undefined) throw new Refused(404, "task not found");
    return task;
  }

  claim(id, body) {
    const task = this.find(id);
    if (task.mode !== "simple") throw new Refused(400, "task is not in simple mode — use bid/assign flow");
    if (task.status !== "open") throw new Refused(409, "task is not open");
    if (task.author_id === this.peerId) throw new Refused(403, "cannot claim your own task");
    this.refuseForeignTarget(task);
    const { result, self_eval_score: score } = body();
    if (!result) throw new Refused(400, "result is required");
    if (!(score >= 0.6)) throw new Refused(400, "self_eval_score must be >= 0.6");
    this.update(task, { status: "submitted", assigned_to: this.peerId, result, self_eval_score: score });
    return { status: "submitted", task_id: id, ...this.milestone("first_task_claim", 300) };
  }

  bid(id, { amount, message = "" }) {
    const task = this.tasks.get(id);
    if (task === undefined) throw new Refused(500, "FOREIGN KEY constraint failed", "bare");
    if (task.author_id === this.peerId) throw new Refused(403, "cannot bid on your own task");
    this.refuseForeignTarget(task);
    const bid = {
      id: randomUUID(),
      task_id: id,
      bidder_id: this.peerId,
      bidder_name: this.name,
      amount,
      message,
      createdMs: this.network.now(),
    };
    this.bids.push(bid);
    this.recomputeClock(task);
    this.network.publish(this.index, { type: "bid", bid });
    return bid;
  }

  refuseForeignTarget(task) {
    if (task.target_peer !== "" && task.target_peer !== this.peerId) {
      throw new Refused(403, "this task is targeted to another peer");
    }
  }

  assign(id, body) {
    const to = body().assign_to;
    if (!to) throw new Refused(400, "assign_to is required");
    const task = this.tasks.get(id);
    if (task !== undefined && to === task.author_id) throw new Refused(403, "cannot assign task to its author");
    if (task?.status !== "open") throw new Refused(409, "task is not open — cannot assign");
    this.update(task, { status: "assigned", assigned_to: to });
    return { status: "assigned" };
  }

  submit(id, body) {
    const { result = "" } = body();
    const task = this.tasks.get(id);
    if (task?.status !== "assigned") throw new Refused(409, "task is not assigned — cannot submit");
    this.update(task, { status: "submitted", result });
    return { status: "submitted" };
  }

  deliver(id, bytes) {
    const task = this.find(id);
    if (task.status !== "assigned") throw new Refused(400, "task must be in assigned status to deliver");
    if (task.assigned_to !== this.peerId) throw new Refused(403, "only the assigned agent can deliver");
    const { hash, size } = this.storeBundle(id, bytes());
    this.update(task, { status: "submitted", result: `delivery bundle: sha256:${hash} (${size} bytes)` });
    return { task_id: id, status: "submitted", hash, size };
  }

  approve(id) {
    const task = this.find(id);
    if (task.status !== "submitted") throw new Refused(409, "task is not submitted — cannot approve");
    this.pay(task, task.assigned_to, task.reward);
    this.update(task, { status: "approved" });
    const paid = task.reward > 0 ? { fee_burned: fee(task.reward), publisher_new_balance: this.account.balance } : {};
    return { status: "approved", task_id: id, reward_paid: task.reward, ...paid };
  }

  reject(id) {
    const task = this.find(id);
    if (task.status !== "submitted") throw new Refused(409, "task is not submitted — cannot reject");
    this.unfreeze(task.reward);
    this.update(task, { status: "rejected" });
    return { status: "rejected" };
  }

  cancel(id) {
    const task = this.find(id);
    if (task.author_id !== this.peerId) throw new Refused(403, "only the task author can cancel");
    if (!["open", "assigned"].includes(task.status)) {
      throw new Refused(409, "task is not open/assigned — cannot cancel");
    }
    this.unfreeze(task.reward);
    this.update(task, { status: "cancelled" });
    return { status: "cancelled" };
  }

  work(id, body) {
    const task = this.find(id);
    if (!["open", "assigned"].includes(task.status)) throw new Refused(409, "task is not accepting submissions");
    if (!this.bids.some((bid) => bid.task_id === id && bid.bidder_id === this.peerId)) {
      throw new Refused(403, "must bid on task before submitting work");
    }
    if (this.submissions.some((one) => one.task_id === id && one.worker_id === this.peerId)) {
      throw new Refused(409, "already submitted work for this task");
    }
    const { result } = body();
    if (!result) throw new Refused(400, "result is required");
    const submission = {
      id: randomUUID(),
      task_id: id,
      worker_id: this.peerId,
      worker_name: this.name,
      result,
      is_winner: false,
      submittedMs: this.network.now(),
    };
    this.submissions.push(submission);
    this.network.publish(this.index, { type: "submission", submission });
    return submission;
  }

  pick(id, body) {
    const task = this.find(id);
    if (task.author_id !== this.peerId) throw new Refused(403, "only the task author can pick a winner");
    if (!["open", "assigned", "submitted"].includes(task.status)) {
      throw new Refused(409, "task already settled or cancelled");
    }
    const { submission_id: wanted } = body();
    if (!wanted) throw new Refused(400, "submission_id is required");
    const candidates = this.submissions.filter((one) => one.task_id === id);
    if (candidates.length === 0) throw new Refused(400, "no submissions to pick from");
    const winner = candidates.find((one) => one.id === wanted);
    if (winner === undefined) throw new Refused(404, "submission not found for this task");
    this.settleWith(task, candidates, winner);
    return { status: "settled", winner: winner.worker_id };
  }

  settle() {
    for (const task of this.tasks.values()) {
      if (task.author_id !== this.peerId || task.status !== "open" || this.network.now() < task.workDeadlineMs)
        continue;
      const candidates = this.submissions.filter((one) => one.task_id === task.id);
      if (candidates.length > 0) this.settleWith(task, candidates, candidates[0]);
      else {
        this.unfreeze(task.reward);
        // Settling an unclaimed task is not gossiped.
        Object.assign(task, { status: "settled", updatedMs: this.network.now() });
      }
    }
  }

  settleWith(task, candidates, winner) {
    winner.is_winner = true;
    const others = candidates.filter((one) => one !== winner);
    const share = others.length === 0 ? task.reward : Math.floor(task.reward * 0.8);
    this.unfreeze(task.reward);
    this.transfer(task, winner.worker_id, share, "task_reward");
    const consolation = others.length === 0 ? 0 : Math.floor(Math.floor(task.reward * 0.2) / others.length);
    for (const one of others) this.transfer(task, one.worker_id, consolation, "task_consolation");
    this.update(task, { status: "settled", assigned_to: winner.worker_id });
  }

  update(task, fields) {
    Object.assign(task, fields, { updatedMs: this.network.now() });
    this.network.publish(this.index, { type: "update", task });
  }

  // --- gossip ------------------------------------------------------------------------------------------------------

  receive({ type, task, bid, submission, credit }) {
    if (type === "task" && !this.tasks.has(task.id))
      this.tasks.set(task.id, { ...task, createdMs: this.network.now() });
    if (type === "bid") {
      this.bids.push(bid);
      const own = this.tasks.get(bid.task_id);
      if (own !== undefined) this.recomputeClock(own);
    }
    if (type === "submission") this.submissions.push(submission);
    if (type === "credit" && credit.to_peer === this.peerId && this.account !== null) {
      this.account.balance += credit.amount;
      this.account.total_earned += credit.amount;
      this.record("system", this.peerId, credit.amount, "received_task_reward", credit.ref_id);
    }
    if (type === "update") this.receiveUpdate(task);
  }

  receiveUpdate(update) {
    const own = this.tasks.get(update.id);
    if (own === undefined) return;
    const wasOpen = own.status === "open" || own.status === "assigned";
    const { status, assigned_to, result, self_eval_score } = update;
    Object.assign(own, { status, assigned_to, result, self_eval_score, updatedMs: this.network.now() });
    // A simple task is paid the moment the author's node hears of the claim: nobody reviews it.
    if (own.author_id === this.peerId && own.mode === "simple" && status === "submitted" && wasOpen)
      this.approve(own.id);
  }

  // --- bundles -----------------------------------------------------------------------------------------------------

  storeBundle(id, bytes) {
    if (bytes.length < 4 || bytes.subarray(0, 3).toString("latin1") !== "NUT") {
      throw new Refused(400, "invalid .nut bundle (bad magic)");
    }
    const hash = createHash("sha256").update(bytes).digest("hex");
    this.bundles.set(id, { bytes, hash });
    return { hash, size: bytes.length };
  }

  /** Own copy first, then every reachable peer in turn; the first hit is kept. */
  fetchBundle(id) {
    const reachable = this.network.nodes.filter(
      ({ index }) => !this.network.cut.has(index) && !this.network.cut.has(this.index),
    );
    const holder = [this, ...reachable].find((node) => node.bundles.has(id));
    if (holder === undefined) throw new Refused(404, "no bundle for this task");
    const bundle = holder.bundles.get(id);
    this.bundles.set(id, bundle);
    return bundle;
  }

  // --- shells ------------------------------------------------------------------------------------------------------

  burnFee(reward) {
    if (this.account === null) throw new Refused(500, "sql: no rows in result set", "bare");
    const amount = fee(reward);
    if (this.account.balance < amount) {
      throw new Refused(400, "insufficient_balance", "structured", {
        message: "Not enough Shells.",
        balance: this.account.balance,
        required: reward + amount,
      });
    }
    this.account.balance -= amount;
    this.account.total_spent += amount;
    this.record(this.peerId, "system_burn", amount, "task_fee", "");
  }

  freeze(amount) {
    if (this.account === null || this.account.balance < amount) {
      throw new Refused(500, "freeze credits: insufficient credits");
    }
    this.account.balance -= amount;
    this.account.frozen += amount;
  }

  unfreeze(amount) {
    this.account.frozen -= amount;
    this.account.balance += amount;
  }

  pay(task, to, amount) {
    this.unfreeze(amount);
    this.transfer(task, to, amount, "task_reward");
  }

  transfer(task, to, amount, reason) {
    this.account.balance -= amount;
    this.account.total_spent += amount;
    this.record(this.peerId, to, amount, reason, task.id);
    this.network.publish(this.index, { type: "credit", credit: { to_peer: to, amount, ref_id: task.id } });
  }

  record(from, to, amount, reason, ref) {
    this.transactions.push({
      id: randomUUID(),
      from_peer: from,
      to_peer: to,
      amount,
      reason,
      ref_id: ref,
      created_at: sqlTime(this.network.now()),
    });
  }

  /** Announced the first time, never paid: the account it should come from does not exist. */
  milestone(name, reward) {
    if (this.milestones.has(name)) return {};
    this.milestones.add(name);
    return { milestone_completed: name, milestone_reward: reward };
  }
}

function encodeTags(tags) {
  if (tags === undefined) return "";
  if (tags === null) return "null";
  return Array.isArray(tags) ? JSON.stringify(tags) : String(tags);
}

export const sqlTime = (ms) => new Date(ms).toISOString().slice(0, 19).replace("T", " ");
export const rfcTime = (ms) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
