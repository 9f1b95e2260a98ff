// What waits for a person, with the form in place: questions of runs, open issues, criteria only a person can judge.
import type { IssueRow, ProjectView, RunRow } from "../../board/model.js";
import { Card } from "../parts.js";
import { Command } from "../verdict-band.js";
import { visible } from "../visible.js";
import { ChangeButton, ChangeForm, type Writing } from "./change-form.js";
import { runLink } from "./runs.js";

/** A run that was finished is only asked about when nothing newer was started. */
function waiting(project: ProjectView): {
  readonly questions: readonly { readonly run: RunRow; readonly question: RunRow["questions"][number] }[];
  readonly stopped: readonly RunRow[];
  readonly judging: readonly RunRow[];
  readonly issues: readonly IssueRow[];
} {
  const latest = project.runs[0];
  const open = project.runs.filter(
    (run) => run.status === "paused" || (run.status === "interrupted" && run === latest),
  );
  return {
    questions: open.flatMap((run) => run.questions.map((question) => ({ run, question }))),
    stopped: open.filter(({ questions }) => questions.length === 0),
    judging: latest !== undefined && latest.verdict.word === "partial" && latest.forPerson.length > 0 ? [latest] : [],
    issues: project.plan?.issues.filter(({ status }) => status === "pending") ?? [],
  };
}

export function waitingCount(project: ProjectView): number {
  const { questions, stopped, judging, issues } = waiting(project);
  return questions.length + stopped.length + judging.length + issues.length;
}

export function NeedsYou({ project, writing }: { project: ProjectView; writing: Writing | null }) {
  const { questions, stopped, judging, issues } = waiting(project);
  if (waitingCount(project) === 0) return null;
  return (
    <Card title="Needs you" class="needs-you">
      {questions.map(({ run, question }) => (
        <QuestionForm key={`${run.id} ${question.task}`} run={run} question={question} writing={writing} />
      ))}
      {stopped.map((run) => (
        <div key={run.id} class="question">
          <p>
            <a href={runLink(run.id)}>{visible(run.title || run.id)}</a> is {run.status}: {visible(run.verdict.detail)}
          </p>
          <GoOn run={run} writing={writing} />
        </div>
      ))}
      {judging.map((run) => (
        <div key={run.id} class="question">
          <p>For a person to judge, in the delivery of {visible(run.title || run.id)}:</p>
          <ul class="plain-list">
            {run.forPerson.map(({ id, text }) => (
              <li key={id}>
                <strong>{visible(id)}</strong> {visible(text)}
              </li>
            ))}
          </ul>
          {run.verdict.next === null ? null : <Command {...run.verdict.next} />}
        </div>
      ))}
      {issues.map((issue) => (
        <IssueForm key={issue.id} issue={issue} writing={writing} />
      ))}
    </Card>
  );
}

interface QuestionProps {
  readonly run: RunRow;
  readonly question: RunRow["questions"][number];
  readonly writing: Writing | null;
}

export function QuestionForm({ run, question: { task, title, question }, writing }: QuestionProps) {
  return (
    <div class="question">
      <p>
        <a href={runLink(run.id)}>{visible(run.title || run.id)}</a> asks about task {task}, {visible(title)}:
      </p>
      <p class="notice warn">{visible(question)}</p>
      {writing === null ? (
        <>
          <Command words="Answer, and it tries again" command={`${run.resume} --answer "…"`} />
          <Command words="Or deliver without it" command={`${run.resume} --deliver`} />
        </>
      ) : (
        <>
          <ChangeForm
            writing={writing}
            label="What the next try should do differently"
            button="Answer and go on"
            change={(text) => ({ action: "answer", run: run.id, task, text })}
          />
          <p>
            <ChangeButton writing={writing} button="Deliver without it" change={{ action: "deliver", run: run.id }} />{" "}
            <code class="soft">{visible(run.resume)} --deliver</code>
          </p>
        </>
      )}
    </div>
  );
}

/** A run that stopped and may be gone on with. */
export function GoOn({ run, writing }: { run: RunRow; writing: Writing | null }) {
  const { next } = run.verdict;
  return (
    <>
      {writing === null ? null : (
        <p>
          <ChangeButton writing={writing} button="Go on" change={{ action: "resume", run: run.id }} />
        </p>
      )}
      {next === null ? null : <Command {...next} />}
    </>
  );
}

export function IssueForm({ issue, writing }: { issue: IssueRow; writing: Writing | null }) {
  return (
    <div class="question">
      <p>
        To decide: <strong>{visible(issue.title)}</strong>
      </p>
      {writing === null ? (
        <Command words="Decide" command={`nexus plan decide ${issue.id} "…"`} />
      ) : (
        <ChangeForm
          writing={writing}
          label="The decision, with its reason"
          button="Decide"
          change={(decision) => ({ action: "decide", issue: issue.id, decision })}
        />
      )}
    </div>
  );
}
