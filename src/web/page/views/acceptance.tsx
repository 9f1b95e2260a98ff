// Acceptance like the page of a build: what fails first, with the end of its log open.
import type { MutableRef } from "preact/hooks";
import type { CriterionRow, Details, Head } from "../../view/model.js";
import { useInSight } from "../in-sight.js";
import { LogTail } from "../log-view.js";
import { Badge, Card, Verdict } from "../parts.js";
import { routeTo } from "../shell.js";
import { Command, VerdictBand } from "../verdict-band.js";
import { span, visible } from "../visible.js";

const EVIDENCE: Readonly<Record<string, string>> = {
  proven: "the harness ran it itself",
  judged: "a reviewer or person said so",
  recorded: "it was run, in a way that proves nothing",
  said: "only the agent claims it",
};

const WEAKNESS: Readonly<Record<string, string>> = {
  guards: "It also passes on the untouched request: it guards, and proves nothing.",
  unsteady: "It did not come out the same every time.",
  forgeable: "It also passes with altered expectations.",
  uncontrolled: "Nothing in it could be altered to see whether it notices.",
  steered: "It passes only with changes to files that steer it.",
  quick: "It was run once only, and nothing was altered.",
};

const ORDER: readonly string[] = ["failed", "unknown", "skipped", "open", "passed"];
const WORDS: Readonly<Record<string, string>> = { unknown: "for a person", skipped: "not run" };

interface AcceptanceProps {
  readonly head: Head;
  readonly details: Details;
  /** The criterion the address names. */
  readonly chosen: string;
}

export function AcceptanceView({ head, details, chosen }: AcceptanceProps) {
  const rows = [...details.criteria].sort((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict));
  const isRun = rows.some(({ before, after }) => before !== "" || after !== "");
  const { delivery } = details;
  return (
    <>
      <h1>Acceptance</h1>
      {delivery === null ? null : <VerdictBand verdict={delivery.verdict} criterionLink={criterionLink} />}
      {rows.length === 0 ? null : (
        <Card title="Criteria" aside={isRun ? <span class="soft">untouched request → with the work</span> : null}>
          <ul class="checks-list">
            {rows.map((row) => (
              <Criterion key={row.id} row={row} isChosen={row.id === chosen} />
            ))}
          </ul>
        </Card>
      )}
      {details.checklist.length === 0 ? null : (
        <Card title="Checklist">
          <ul class="criteria">
            {details.checklist.map((row) => (
              <li key={row.item}>
                <Verdict verdict={row.verdict} word={WORDS[row.verdict]} />
                <div>
                  <p>{visible(row.item)}</p>
                  <Told evidence={row.evidence} note={row.note} by={row.judgedBy} />
                </div>
              </li>
            ))}
          </ul>
        </Card>
      )}
      {head.testScripts.length === 0 ? null : (
        <Card title="Test scripts">
          <ul class="plain-list">
            {head.testScripts.map((path) => (
              <li key={path}>
                <a href={routeTo("files", path)}>{visible(path)}</a>
              </li>
            ))}
          </ul>
        </Card>
      )}
    </>
  );
}

export const criterionLink = (id: string) => routeTo("acceptance", id);

function Criterion({ row, isChosen }: { row: CriterionRow; isChosen: boolean }) {
  const element = useInSight(isChosen, "start") as MutableRef<HTMLLIElement | null>;
  return (
    <li class={`check ${row.verdict}`} ref={element}>
      <details open={row.verdict === "failed" || row.verdict === "open" || isChosen}>
        <summary>
          <Verdict verdict={row.verdict} word={WORDS[row.verdict]} />
          <span class="check-name">
            <strong>{visible(row.id)}</strong> {visible(row.description)}
          </span>
          {row.after === "" ? null : (
            <span class="before-after soft">
              {visible(row.before) || "not run"} → {visible(row.after)}
            </span>
          )}
          <span class="soft time">
            {row.durationMs === null || row.verdict === "unknown" ? "" : duration(row.durationMs)}
          </span>
        </summary>
        <p class="soft">
          {visible(row.type)}
          {row.how === "" ? null : (
            <>
              {" · "}
              <code>{visible(row.how)}</code>
            </>
          )}
          {row.expected === "" ? null : (
            <>
              {" · expects "}
              <code>{visible(row.expected)}</code>
            </>
          )}
        </p>
        <Told evidence={row.verdict === "failed" ? "" : row.evidence} note={row.note} by={row.judgedBy} />
        {row.weakness === "" && !row.provesNothing ? null : (
          <p class="notice warn">{WEAKNESS[row.weakness] ?? WEAKNESS.guards}</p>
        )}
        {row.tail === "" ? null : <LogTail text={row.tail} />}
        {row.log === "" ? null : <a href={routeTo("files", row.log)}>The whole log</a>}
        {row.verdict === "failed" && row.type === "shell" && /^[\w./-]+\.\w+$/.test(row.how) ? (
          <Command words="Run it in your own copy of the work" command={`./${row.how}`} />
        ) : null}
      </details>
    </li>
  );
}

const duration = (ms: number) => (ms < 1_000 ? `${Math.round(ms)} ms` : span(ms));

function Told({ evidence, note, by }: { evidence: string; note: string; by: string }) {
  if (evidence === "" && note === "") return null;
  return (
    <p class="soft">
      {evidence === "" ? null : (
        <>
          <Badge tone="evidence">{visible(evidence)}</Badge>{" "}
          {by === "" ? (EVIDENCE[evidence] ?? "") : `by ${visible(by)}`}
          {note === "" ? "" : ": "}
        </>
      )}
      {note === "" ? null : <span>{visible(note)}</span>}
    </p>
  );
}
