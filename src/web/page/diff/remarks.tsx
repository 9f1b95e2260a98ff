// Remarks on lines and criteria. They stay in the browser until they are sent, together, as the answer to the next try.
import { useEffect, useRef, useState } from "preact/hooks";
import { visible } from "../visible.js";
import type { Remark } from "./remarks-text.js";

export interface Remarking {
  readonly remarks: readonly Remark[];
  add(remark: Remark): void;
  remove(index: number): void;
  clear(): void;
}

export function useRemarks(keptAs: string): Remarking {
  const name = `nutcracker-remarks ${keptAs}`;
  const [remarks, setRemarks] = useState<readonly Remark[]>(() => read(name));
  const keep = (next: readonly Remark[]) => {
    setRemarks(next);
    try {
      localStorage.setItem(name, JSON.stringify(next));
    } catch {
      // No storage: they last as long as the page.
    }
  };
  return {
    remarks,
    add: (remark) => keep([...remarks, remark]),
    remove: (index) => keep(remarks.filter((_, at) => at !== index)),
    clear: () => keep([]),
  };
}

function read(name: string): readonly Remark[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(name) ?? "[]");
    return Array.isArray(value) ? (value as Remark[]) : [];
  } catch {
    return [];
  }
}

/** A small form under a line. */
export function RemarkForm({
  about,
  onAdd,
  onLeave,
}: {
  about: string;
  onAdd: (text: string) => void;
  onLeave: () => void;
}) {
  const [text, setText] = useState("");
  const box = useRef<HTMLTextAreaElement>(null);
  // Once: whoever has gone on to the button must not be called back.
  useEffect(() => box.current?.focus(), []);
  return (
    <div class="remark-form">
      <label>
        <span class="soft">Remark on {visible(about)}</span>
        <textarea
          rows={2}
          value={text}
          ref={box}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Escape" && onLeave()}
        />
      </label>
      <button type="button" class="primary" disabled={text.trim() === ""} onClick={() => onAdd(text.trim())}>
        Keep the remark
      </button>{" "}
      <button type="button" class="plain" onClick={onLeave}>
        Leave it
      </button>
    </div>
  );
}

export function RemarkList({ remarking }: { remarking: Remarking }) {
  return (
    <ul class="brief remarks">
      {remarking.remarks.map(({ about, text }, index) => (
        <li key={index}>
          <code>{visible(about)}</code> {visible(text)}{" "}
          <button type="button" class="link" onClick={() => remarking.remove(index)}>
            Remove
          </button>
        </li>
      ))}
    </ul>
  );
}
