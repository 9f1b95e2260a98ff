// What a run or a session changed, as a diff, with remarks that go to the next try.
import { useMemo } from "preact/hooks";
import type { RunRow } from "../../board/model.js";
import type { ComparedRow, CountRow, FileDiff } from "../../view/model.js";
import { ask, askJson } from "../ask-server.js";
import { useLoaded } from "../data.js";
import { ChangesPane } from "../diff/changes-pane.js";
import { RemarkForm, type Remarking, RemarkList } from "../diff/remarks.js";
import { remarksText } from "../diff/remarks-text.js";
import type { DiffSource } from "../diff/source.js";
import { Card, Empty, Loading } from "../parts.js";
import { type Params, setParam } from "../shell.js";
import { plural, visible } from "../visible.js";
import { ActionForm, type Writing } from "./acting.js";
import { tryAgain } from "./runs.js";

interface ChangesProps {
  readonly project: number;
  readonly run: RunRow;
  /** Empty: of the whole run. */
  readonly agent: string;
  readonly params: Params;
  readonly remarking: Remarking;
}

export function RunChangesView({ project, run, agent, params, remarking }: ChangesProps) {
  const question = `project=${project}&run=${encodeURIComponent(run.id)}&agent=${encodeURIComponent(agent)}`;
  const rows = useLoaded(
    () => askJson<readonly ComparedRow[]>(`/api/changes/rows?${question}`),
    [question, run.sessions.length, run.status, run.marks.length],
  );
  const source = useMemo(() => sourceOf(question), [question]);
  if (rows.state === "loading") return <Loading>reading</Loading>;
  if (rows.state === "failed") return <Empty>{visible(rows.message)}</Empty>;
  if (rows.value.length === 0) return <Empty>{noneOf(run, agent)}</Empty>;
  return (
    <ChangesPane
      source={source}
      files={rows.value}
      path={params.file ?? ""}
      words={params.find ?? ""}
      keptAs={run.id}
      remarking={remarking}
      onChoose={(path) => setParam("file", path)}
    />
  );
}

function noneOf({ sessions }: RunRow, agent: string): string {
  const outcome = sessions.find((session) => session.agent === agent)?.outcome;
  if (outcome === "") return "What it changes is compared when it ends.";
  if (outcome === "stopped") return "It was stopped: nothing it left was taken over.";
  return "Nothing was changed that was kept.";
}

function sourceOf(question: string): DiffSource {
  return {
    counts: () => askJson<readonly CountRow[]>(`/api/changes/counts?${question}`),
    diff: (before, after) =>
      askJson<FileDiff>(`/api/changes/diff?${question}&path=${encodeURIComponent(after || before)}`),
    picture: async (side, path) => {
      const name = side === 0 ? "before" : "after";
      const response = await ask(`/api/changes/picture?${question}&side=${name}&path=${encodeURIComponent(path)}`);
      return response.ok ? URL.createObjectURL(await response.blob()) : null;
    },
  };
}

interface RemarksProps {
  readonly run: RunRow;
  readonly writing: Writing | null;
  readonly remarking: Remarking;
  /** The criterion a remark is being written on. */
  readonly params: Params;
}

/** Remarks so far, and the way to send them: as the answer to what the run asks, or to the next run of the same request. */
export function Remarks({ run, writing, remarking, params }: RemarksProps) {
  const about = run.verdict.failing.find(({ id }) => id === params.remark);
  const [question] = run.questions;
  if (remarking.remarks.length === 0 && about === undefined) return null;
  return (
    <Card title="Your remarks" aside={<span class="soft">{plural(remarking.remarks.length, "remark")}</span>}>
      {about === undefined ? null : (
        <RemarkForm
          about={about.id}
          onLeave={() => setParam("remark", "")}
          onAdd={(text) => {
            remarking.add({ about: about.id, quote: about.line, text });
            setParam("remark", "");
          }}
        />
      )}
      <RemarkList remarking={remarking} />
      {remarking.remarks.length === 0 ? null : run.status === "running" ? (
        <p class="soft">They can be sent when the run asks, or is over.</p>
      ) : (
        <ActionForm
          key={remarking.remarks.length}
          writing={writing}
          name="What the next try is told"
          label={question === undefined ? "Send them to a new run" : "Send them as the answer"}
          initial={remarksText(remarking.remarks)}
          onSent={() => remarking.clear()}
          action={(text) =>
            question === undefined ? tryAgain(run, text) : { action: "answer", run: run.id, task: question.task, text }
          }
        />
      )}
    </Card>
  );
}
