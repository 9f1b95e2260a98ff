import { useState } from "preact/hooks";
import { type StateChange, sendChange } from "./store.js";
import { tell } from "./told.js";

export interface Writing {
  readonly project: number;
}

interface FormProps {
  readonly writing: Writing;
  readonly label: string;
  readonly button: string;
  readonly change: (text: string) => StateChange;
}

/** A sentence and a button. What came of it is said at the top of the page; what went wrong, beside it. */
export function ChangeForm({ writing, label, button, change }: FormProps) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const send = async (event: Event) => {
    event.preventDefault();
    try {
      tell(await sendChange(writing.project, change(text)));
      setProblem("");
      setText("");
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
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
      {problem === "" ? null : (
        <p class="notice bad" role="status">
          {problem}
        </p>
      )}
    </form>
  );
}

export function ChangeButton({ writing, button, change }: { writing: Writing; button: string; change: StateChange }) {
  const [problem, setProblem] = useState("");
  const send = () =>
    sendChange(writing.project, change).then(
      (message) => {
        tell(message);
        setProblem("");
      },
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
