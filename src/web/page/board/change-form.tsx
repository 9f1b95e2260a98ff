import { useState } from "preact/hooks";
import { type Change, sendChange } from "./store.js";

export interface Writing {
  readonly project: number;
}

interface FormProps {
  readonly writing: Writing;
  readonly label: string;
  readonly button: string;
  readonly change: (text: string) => Change;
}

/** A sentence and a button. What happened to it is said beside it. */
export function ChangeForm({ writing, label, button, change }: FormProps) {
  const [text, setText] = useState("");
  const [said, setSaid] = useState<{ readonly tone: "good" | "bad"; readonly text: string } | null>(null);
  const send = async (event: Event) => {
    event.preventDefault();
    try {
      setSaid({ tone: "good", text: await sendChange(writing.project, change(text)) });
      setText("");
    } catch (error) {
      setSaid({ tone: "bad", text: error instanceof Error ? error.message : String(error) });
    }
  };
  return (
    <form class="change-form" onSubmit={send}>
      <label>
        <span class="soft">{label}</span>
        <textarea rows={2} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <button type="submit" class="primary" disabled={text.trim() === ""}>
        {button}
      </button>
      {said === null ? null : (
        <p class={`notice ${said.tone}`} role="status">
          {said.text}
        </p>
      )}
    </form>
  );
}

export function ChangeButton({ writing, button, change }: { writing: Writing; button: string; change: Change }) {
  const [problem, setProblem] = useState("");
  const send = () =>
    sendChange(writing.project, change).then(
      () => setProblem(""),
      (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)),
    );
  return (
    <>
      <button type="button" class="plain" onClick={send}>
        {button}
      </button>
      {problem === "" ? null : (
        <p class="notice bad" role="status">
          {problem}
        </p>
      )}
    </>
  );
}
