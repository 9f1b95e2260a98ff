// What became of it, before anything else: the outcome, the counts, what fails and why, and the one next thing to do.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { countWords, type VerdictView } from "../verdict.js";
import { Badge } from "./parts.js";
import { plural, visible } from "./visible.js";

interface BandProps {
  readonly verdict: VerdictView;
  /** Whose outcome it is, where several stand on one page. */
  readonly of?: string;
  /** What a criterion's name leads to. */
  readonly criterionLink?: (id: string) => string;
  /** A remark on a criterion can be kept here. */
  readonly onRemark?: (id: string) => void;
  /** A form that does the next thing here, instead of the command. */
  readonly children?: ComponentChildren;
}

const MOST_FAILING = 8;
const UNRUN = "no acceptance yet";
const WITHOUT: Readonly<Record<string, string>> = {
  running: UNRUN,
  paused: UNRUN,
  cancelled: UNRUN,
  interrupted: UNRUN,
  damaged: "",
};

export function VerdictBand({ verdict, of = "", criterionLink, onRemark, children }: BandProps) {
  const { word, tone, counts, checklist, failing, detail, next } = verdict;
  return (
    <section class={`band ${tone}`} aria-label={of === "" ? "outcome" : `outcome of ${visible(of)}`}>
      <p class="band-head">
        <strong class="band-word">{visible(word)}</strong>
        <span>
          {counts === null ? (WITHOUT[word] ?? "it says nothing of its criteria") : countWords(counts)}
          {checklist.total === 0
            ? ""
            : `; checklist: ${checklist.passed} of ${plural(checklist.total, "item")} passed${
                checklist.failed === 0 ? "" : `, ${checklist.failed} failed`
              }`}
        </span>
      </p>
      {detail === "" ? null : <p>{visible(detail)}</p>}
      {word === "completed" && tone === "bad" ? (
        <p>It calls itself completed, and something in it failed: do not believe it.</p>
      ) : null}
      {failing.length === 0 ? null : (
        <ul class="band-failing">
          {failing.slice(0, MOST_FAILING).map(({ id, description, reason, line }) => (
            <li key={id}>
              {criterionLink === undefined ? (
                <strong>{visible(id)}</strong>
              ) : (
                <a href={criterionLink(id)}>{visible(id)}</a>
              )}{" "}
              {visible(description || reason)}
              {onRemark === undefined ? null : (
                <button type="button" class="link" onClick={() => onRemark(id)}>
                  Remark
                </button>
              )}
              {line === "" ? null : <code class="band-line">{visible(line)}</code>}
            </li>
          ))}
          {failing.length > MOST_FAILING ? <li>and {failing.length - MOST_FAILING} more</li> : null}
        </ul>
      )}
      {children ?? (next === null ? null : <Command words={next.words} command={next.command} />)}
    </section>
  );
}

/** A command to run in a terminal, with a button that copies it. */
export function Command({ words, command }: { words: string; command: string }) {
  return (
    <p class="command">
      <span>{words}:</span> <code>{visible(command)}</code> <CopyButton text={command} />
    </p>
  );
}

export function CopyButton({ text }: { text: string }) {
  const [said, setSaid] = useState("Copy");
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setSaid("Copied"),
      () => setSaid("Select and copy it"),
    );
  return (
    <button type="button" class="plain copy" onClick={copy}>
      {said}
    </button>
  );
}

export function OutcomeBadge({ verdict }: { verdict: VerdictView }) {
  return <Badge tone={verdict.tone}>{visible(verdict.word)}</Badge>;
}
