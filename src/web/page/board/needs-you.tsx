// What waits for a person, with the form in place: questions of runs, plans to read, criteria only a person can judge, open
// issues.
import { useState } from "preact/hooks";
import type { IssueRow, ProjectView, RunRow } from "../../board/model.js";
import { waitingCount, waitingIn } from "../../board/waiting.js";
import { Badge, Card } from "../parts.js";
import { visible } from "../visible.js";
import { ActionButton, ActionForm, type Writing } from "./acting.js";
import { runLink } from "./runs.js";

export function NeedsYou({ project, writing }: { project: ProjectView; writing: Writing | null }) {
  const { questions, plans, stopped, judging, issues } = waitingIn(project);
  if (waitingCount(project) === 0) return null;
  return (
    <Card title="Needs you" class="needs-you">
      {questions.map(({ run, question }) => (
        <QuestionForm key={`${run.id} ${question.task}`} run={run} question={question} writing={writing} />
      ))}
      {plans.map((run) => (
        <PlanForm key={run.id} run={run} writing={writing} />
      ))}
      {stopped.map((run) => (
        <div key={run.id} class="question">
          <p>
            <a href={runLink(run.id)}>{visible(run.title || run.id)}</a> is {run.status}: {visible(run.verdict.detail)}
          </p>
          <GoOn run={run} writing={writing} />
        </div>
      ))}
      {judging.map(({ run, item }) => (
        <JudgeForm key={`${run.id} ${item.id}`} run={run} item={item} writing={writing} />
      ))}
      {issues.map((issue) => (
        <IssueForm key={issue.id} issue={issue} writing={writing} />
      ))}
    </Card>
  );
}

interface RunProps {
  readonly run: RunRow;
  readonly writing: Writing | null;
}

interface QuestionProps extends RunProps {
  readonly question: RunRow["questions"][number];
}

export function QuestionForm({ run, question: { task, title, question }, writing }: QuestionProps) {
  return (
    <div class="question">
      <p>
        <a href={runLink(run.id)}>{visible(run.title || run.id)}</a> asks about task {task}, {visible(title)}:
      </p>
      <p class="notice warn">{visible(question)}</p>
      <ActionForm
        writing={writing}
        name="What the next try should do differently"
        label="Answer and go on"
        action={(text) => ({ action: "answer", run: run.id, task, text })}
      />
      <div class="acts">
        <ActionButton writing={writing} label="Try again" action={{ action: "retry", run: run.id, task }} />
        <ActionButton writing={writing} label="Go on without it" action={{ action: "skip", run: run.id, task }} />
        <ActionButton writing={writing} label="Deliver as it is" action={{ action: "deliver", run: run.id }} />
      </div>
    </div>
  );
}

interface PlannedTask {
  readonly id?: unknown;
  readonly title?: unknown;
  readonly owner?: unknown;
  readonly deps?: unknown;
}

/** A plan is shown as its tasks, and changed as the file it is. */
export function PlanForm({ run, writing }: RunProps) {
  const [text, setText] = useState(run.planToRead);
  const [isOpen, setOpen] = useState(false);
  const tasks = tasksIn(text);
  const isChanged = text !== run.planToRead;
  return (
    <div class="question">
      <p>
        The plan of <a href={runLink(run.id)}>{visible(run.title || run.id)}</a> waits to be read
        {isChanged ? ", and you changed it" : ""}:
      </p>
      {tasks === null ? (
        <p class="notice bad">This is not a plan: it must be JSON with a list called tasks.</p>
      ) : (
        <ol class="plan-tasks">
          {tasks.map(({ id, title, owner, deps }, index) => (
            <li key={index} value={typeof id === "number" ? id : undefined}>
              {visible(String(title ?? ""))} <Badge>{visible(String(owner ?? "engineer"))}</Badge>
              {Array.isArray(deps) && deps.length > 0 ? (
                <span class="soft"> after {deps.map(String).join(", ")}</span>
              ) : null}
            </li>
          ))}
        </ol>
      )}
      {isOpen ? (
        <label class="change-form">
          <span class="soft">The plan</span>
          <textarea
            class="plan-text"
            rows={16}
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
      ) : null}
      <div class="acts">
        <ActionButton
          writing={writing}
          isPrimary
          label="Approve the plan"
          disabled={tasks === null}
          action={{ action: "approve", run: run.id, plan: isChanged ? text : "" }}
        />
        <button type="button" class="plain" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Close the text" : "Change it"}
        </button>
        <ActionButton writing={writing} label="Cancel the run" action={{ action: "cancel", run: run.id }} />
      </div>
    </div>
  );
}

function tasksIn(text: string): readonly PlannedTask[] | null {
  try {
    const { tasks } = JSON.parse(text) as { tasks?: unknown };
    return Array.isArray(tasks) && tasks.every((task) => typeof task === "object" && task !== null) ? tasks : null;
  } catch {
    return null;
  }
}

/** A run that stopped and may be gone on with. */
export function GoOn({ run, writing }: RunProps) {
  return (
    <div class="acts">
      <ActionButton
        writing={writing}
        isPrimary
        label="Go on"
        action={{ action: "resume", run: run.id, budget: run.moreBudget }}
      />
      <ActionButton writing={writing} label="Deliver as it is" action={{ action: "deliver", run: run.id }} />
      <ActionButton writing={writing} label="Cancel it" action={{ action: "cancel", run: run.id }} />
    </div>
  );
}

const NAME = "nutcracker-name";

/** One criterion or point of the checklist, judged with a reason and by somebody. */
export function JudgeForm({ run, item, writing }: RunProps & { readonly item: RunRow["forPerson"][number] }) {
  const [status, setStatus] = useState<"passed" | "failed">("passed");
  const [by, setBy] = useState(() => localStorage.getItem(NAME) ?? "");
  const [why, setWhy] = useState("");
  const isReady = by.trim() !== "" && why.trim() !== "";
  const judged = { by: by.trim() || "…", why: why.trim() || "…" };
  return (
    <div class="question">
      <p>
        To judge in <a href={runLink(run.id)}>{visible(run.title || run.id)}</a>: <strong>{visible(item.id)}</strong>{" "}
        {visible(item.text)}
      </p>
      <fieldset class="judge">
        <legend class="hidden">{`What you say of ${visible(item.id)}`}</legend>
        {(["passed", "failed"] as const).map((word) => (
          <label key={word}>
            <input
              type="radio"
              name={`judge ${run.id} ${item.id}`}
              checked={status === word}
              onChange={() => setStatus(word)}
            />{" "}
            {word === "passed" ? "It holds" : "It does not hold"}
          </label>
        ))}
        <label>
          <span class="soft">Your name</span>
          <input
            type="text"
            value={by}
            onInput={(event) => {
              setBy(event.currentTarget.value);
              localStorage.setItem(NAME, event.currentTarget.value);
            }}
          />
        </label>
        <label class="wide">
          <span class="soft">What you looked at, and why you say so</span>
          <textarea rows={2} value={why} onInput={(event) => setWhy(event.currentTarget.value)} />
        </label>
      </fieldset>
      <ActionButton
        writing={writing}
        isPrimary
        label="Record it"
        disabled={!isReady}
        paths={run}
        action={{ action: "judge", run: run.id, item: item.id, status, ...judged }}
      />
    </div>
  );
}

export function IssueForm({ issue, writing }: { issue: IssueRow; writing: Writing | null }) {
  return (
    <div class="question">
      <p>
        To decide: <strong>{visible(issue.title)}</strong>
      </p>
      <DecideForm issue={issue} writing={writing} />
    </div>
  );
}

export function DecideForm({ issue, writing }: { issue: IssueRow; writing: Writing | null }) {
  return (
    <ActionForm
      writing={writing}
      name="The decision, with its reason"
      label="Decide"
      action={(decision) => ({ action: "decide", issue: issue.id, decision })}
    />
  );
}
