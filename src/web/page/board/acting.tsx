// Doing something from the page. Every button shows the command that does the same; where the board may not write, the
// button copies it instead.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import {
  type Action,
  type Agreement,
  type ConsentAsked,
  commandOf,
  lineOf,
  type RunPaths,
} from "../../board/actions.js";
import { CopyButton } from "../verdict-band.js";
import { visible } from "../visible.js";
import { sendAction } from "./store.js";
import { tell } from "./told.js";

export interface Writing {
  readonly project: number;
}

interface ActProps {
  /** null: the board may not write. */
  readonly writing: Writing | null;
  readonly action: Action;
  readonly paths?: RunPaths | undefined;
  readonly label: string;
  readonly isPrimary?: boolean;
  readonly disabled?: boolean;
  readonly onDone?: () => void;
}

type Standing =
  | { readonly kind: "idle" | "busy" | "copied" | "not copied" }
  | { readonly kind: "refused"; readonly message: string; readonly hint?: string }
  | { readonly kind: "asked"; readonly consent: ConsentAsked };

const IDLE: Standing = { kind: "idle" };

/** What was said of an action, by what it does: while a run tries again its question goes, with its form, and comes back after a failure. */
const said = new Map<string, { readonly standing: Standing; readonly atMs: number }>();
/** A form that comes back later than that is asked anew: what was refused then may be possible now. */
const KEPT_MS = 60_000;

function useStanding(key: string): readonly [Standing, (next: Standing) => void] {
  const [, setTurn] = useState(() => {
    const { standing, atMs } = said.get(key) ?? {};
    if (standing?.kind !== "busy" && atMs !== undefined && Date.now() - atMs > KEPT_MS) said.delete(key);
    return 0;
  });
  const set = (next: Standing) => {
    if (next.kind === "idle") said.delete(key);
    else said.set(key, { standing: next, atMs: Date.now() });
    setTurn((turn) => turn + 1);
  };
  return [said.get(key)?.standing ?? IDLE, set];
}

/** Without what was typed, which a form that comes back does not hold. */
function keyOf({ writing, action, label }: Pick<ActProps, "writing" | "action" | "label">): string {
  return JSON.stringify([writing?.project, label, action], (name, value) => (name === "text" ? undefined : value));
}

export function ActionButton({ writing, action, paths, label, isPrimary, disabled, onDone }: ActProps) {
  const [standing, setStanding] = useStanding(keyOf({ writing, action, label }));
  const command = commandOf(action, paths);
  const line = lineOf(command);
  const send = async (agreed: Agreement | null) => {
    if (writing === null) {
      const copied = await navigator.clipboard.writeText(line).then(
        () => true,
        () => false,
      );
      setStanding({ kind: copied ? "copied" : "not copied" });
      return;
    }
    setStanding({ kind: "busy" });
    try {
      const acted = await sendAction(writing.project, action, agreed);
      if (acted.done) {
        setStanding(IDLE);
        tell(acted.message);
        onDone?.();
        if (acted.run !== undefined) location.hash = `#/run/${acted.run}`;
      } else if (acted.consent !== null) setStanding({ kind: "asked", consent: acted.consent });
      else setStanding({ kind: "refused", message: acted.message, hint: acted.hint });
    } catch (error) {
      setStanding({ kind: "refused", message: error instanceof Error ? error.message : String(error) });
    }
  };
  return (
    <div class="act">
      <button
        type="button"
        class={isPrimary === true ? "primary" : "plain"}
        disabled={disabled === true || standing.kind === "busy"}
        onClick={() => void send(null)}
      >
        {standing.kind === "busy" ? `${label} …` : label}
      </button>
      <code
        class="act-line"
        title={writing === null ? "the button copies this command" : "the command that does the same"}
      >
        {visible(line)}
      </code>
      <span role="status" class="act-said">
        {standing.kind === "copied" ? "Copied: paste it into a terminal." : null}
        {standing.kind === "not copied" ? "The browser does not let it be copied: select it." : null}
      </span>
      {standing.kind === "refused" ? (
        <Notice tone="bad">
          {visible(standing.message)}
          {(standing.hint ?? "") === "" ? null : <code class="fix">{visible(standing.hint!)}</code>}
        </Notice>
      ) : null}
      {standing.kind === "asked" ? (
        <Consent
          consent={standing.consent}
          line={lineOf(command, standing.consent)}
          onAgree={() => void send({ agree: standing.consent.agree, install: standing.consent.install })}
          onLeave={() => setStanding(IDLE)}
        />
      ) : null}
    </div>
  );
}

function Notice({ tone, children }: { tone: "bad" | "warn"; children: ComponentChildren }) {
  return (
    <div class={`notice ${tone}`} role="alert">
      {children}
    </div>
  );
}

interface ConsentProps {
  readonly consent: ConsentAsked;
  readonly line: string;
  readonly onAgree: () => void;
  readonly onLeave: () => void;
}

/** The question the terminal would ask, in its words. A yes is kept, as it is there. */
function Consent({ consent, line, onAgree, onLeave }: ConsentProps) {
  return (
    <Notice tone="warn">
      <pre class="consent">{visible(consent.question)}</pre>
      <p>
        <button type="button" class="primary" onClick={onAgree}>
          Yes, I have read this
        </button>{" "}
        <button type="button" class="plain" onClick={onLeave}>
          No
        </button>
      </p>
      <p class="soft">
        In a terminal: <code>{visible(line)}</code> <CopyButton text={line} />
      </p>
    </Notice>
  );
}

interface FormProps extends Omit<ActProps, "action" | "disabled" | "onDone"> {
  /** Of the sentence. */
  readonly name: string;
  readonly action: (text: string) => Action;
  readonly initial?: string;
  readonly onSent?: () => void;
}

/** A sentence and a button. */
export function ActionForm({ name, action, initial = "", onSent, ...button }: FormProps) {
  const [text, setText] = useState(initial);
  const isEmpty = text.trim() === "";
  return (
    <div class="change-form">
      <label>
        <span class="soft">{name}</span>
        <textarea rows={2} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <ActionButton
        {...button}
        isPrimary
        action={action(isEmpty ? "…" : text.trim())}
        disabled={isEmpty}
        onDone={() => {
          setText("");
          onSent?.();
        }}
      />
    </div>
  );
}
