// Which changes a person has looked at. Kept by the browser, for exactly these contents: a file that changes is new again.
import { useState } from "preact/hooks";
import type { ComparedRow } from "../../view/model.js";

const MOST = 5_000;

export interface Viewed {
  has(row: ComparedRow): boolean;
  toggle(row: ComparedRow): void;
}

const markOf = ({ path, stamp }: ComparedRow) => `${stamp} ${path}`;

export function useViewed(keptAs: string): Viewed {
  const name = `nutcracker-viewed ${keptAs}`;
  const [marks, setMarks] = useState<ReadonlySet<string>>(() => read(name));
  return {
    has: (row) => marks.has(markOf(row)),
    toggle: (row) => {
      const next = new Set(marks);
      if (!next.delete(markOf(row))) next.add(markOf(row));
      setMarks(next);
      try {
        localStorage.setItem(name, JSON.stringify([...next].slice(-MOST)));
      } catch {
        // No storage: the ticks last as long as the page.
      }
    },
  };
}

function read(name: string): Set<string> {
  try {
    return new Set(JSON.parse(localStorage.getItem(name) ?? "[]") as string[]);
  } catch {
    return new Set();
  }
}
