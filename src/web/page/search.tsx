// One search over everything (`/`), and the list of keys (`?`).
import { type MutableRef, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useInSight } from "./in-sight.js";
import { Icon } from "./parts.js";
import { visible } from "./visible.js";

export interface Found {
  /** task, file, criterion, run… */
  readonly kind: string;
  readonly text: string;
  /** Where it was found, or what it says there. */
  readonly detail: string;
  readonly href: string;
}

interface SearchProps {
  /** What the page knows itself. */
  readonly known: () => readonly Found[];
  /** What the server has to look for: contents. */
  readonly ask: (words: string) => Promise<readonly Found[]>;
  /** Keys of this page, besides those every page has. */
  readonly keys: readonly (readonly [key: string, meaning: string])[];
}

const MOST = 60;
const PAUSE_MS = 150;
const KEYS: readonly (readonly [string, string])[] = [
  ["/", "search everything"],
  ["?", "this list"],
  ["Esc", "close"],
  ["Tab", "to the next thing that can be chosen"],
];

/** The button in the bar, and what it opens. */
export function Search({ known, ask, keys }: SearchProps) {
  const [open, setOpen] = useState<"" | "search" | "keys">("");
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      const { target, key, ctrlKey, metaKey, altKey } = event;
      const isTyping = target instanceof HTMLElement && target.matches("input, textarea, select");
      if (isTyping || ctrlKey || metaKey || altKey || (key !== "/" && key !== "?")) return;
      event.preventDefault();
      setOpen(key === "/" ? "search" : "keys");
    };
    addEventListener("keydown", hear);
    return () => removeEventListener("keydown", hear);
  }, []);
  useEffect(() => {
    if (open === "") dialog.current?.close();
    else if (dialog.current?.open === false) dialog.current.showModal();
  }, [open]);
  return (
    <>
      <button type="button" class="plain search-open" aria-label="Search everything" onClick={() => setOpen("search")}>
        <Icon name="search" /> <kbd aria-hidden="true">/</kbd>
      </button>
      <dialog
        class="search-dialog"
        ref={dialog}
        aria-label={open === "keys" ? "keys" : "search"}
        // Not onClose: it comes later than the closing, when the next key may have opened it again.
        onCancel={() => setOpen("")}
        onClick={(event) => event.target === dialog.current && setOpen("")}
      >
        {open === "search" ? <Finder known={known} ask={ask} onLeave={() => setOpen("")} /> : null}
        {open === "keys" ? (
          <>
            <h2>Keys</h2>
            <dl class="facts">
              {[...KEYS, ...keys].map(([key, meaning]) => (
                <div key={key}>
                  <dt>
                    <kbd>{key}</kbd>
                  </dt>
                  <dd>{meaning}</dd>
                </div>
              ))}
            </dl>
            <button type="button" class="plain" onClick={() => setOpen("")}>
              Close
            </button>
          </>
        ) : null}
      </dialog>
    </>
  );
}

function Finder({ known, ask, onLeave }: Omit<SearchProps, "keys"> & { readonly onLeave: () => void }) {
  const [words, setWords] = useState("");
  const [more, setMore] = useState<readonly Found[]>([]);
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  // Once: whoever has gone on to what was found must not be called back.
  useEffect(() => input.current?.focus(), []);
  const all = useMemo(known, []);
  useEffect(() => {
    let wanted = true;
    setMore([]);
    const timer = setTimeout(() => {
      if (words.trim().length < 2) return;
      ask(words.trim()).then(
        (found) => wanted && setMore(found),
        () => {},
      );
    }, PAUSE_MS);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [words]);
  const own = useMemo(() => fitting(all, words), [all, words]);
  const found = [...own, ...more].slice(0, MOST);
  const go = (row: Found | undefined) => {
    if (row === undefined) return;
    location.hash = row.href;
    onLeave();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setAt(Math.min(found.length - 1, at + 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, at - 1));
    else if (event.key === "Enter") go(found[at]);
    // Of a search field the key would only clear the words.
    else if (event.key === "Escape") onLeave();
    else return;
    event.preventDefault();
  };
  return (
    <>
      <label class="search wide">
        <Icon name="search" />
        <input
          type="search"
          placeholder="Search everything"
          aria-label="Search everything"
          ref={input}
          value={words}
          onInput={(event) => {
            setWords(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </label>
      <p class="soft" role="status">
        {words.trim() === ""
          ? "Names, tasks, criteria, runs and contents."
          : `${found.length === MOST ? `${MOST} or more` : found.length} found`}
      </p>
      <ul class="found">
        {found.map((row, index) => (
          <FoundLine key={`${row.kind} ${row.href} ${index}`} row={row} isAt={index === at} onChoose={onLeave} />
        ))}
      </ul>
    </>
  );
}

function FoundLine({ row, isAt, onChoose }: { row: Found; isAt: boolean; onChoose: () => void }) {
  const element = useInSight(isAt, "nearest") as MutableRef<HTMLLIElement | null>;
  return (
    <li ref={element}>
      <a href={row.href} class={isAt ? "at" : ""} onClick={onChoose}>
        <span class="badge plain">{row.kind}</span> <strong>{visible(row.text)}</strong>{" "}
        <span class="soft">{visible(row.detail)}</span>
      </a>
    </li>
  );
}

function fitting(all: readonly Found[], words: string): Found[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return [];
  return all
    .filter(({ kind, text, detail }) => {
      const whole = `${kind} ${text} ${detail}`.toLowerCase();
      return wanted.every((word) => whole.includes(word));
    })
    .slice(0, MOST);
}
