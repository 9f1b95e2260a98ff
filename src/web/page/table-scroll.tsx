import type { ComponentChildren } from "preact";

interface TableScrollProps {
  /** What the table holds, for who hears the page. */
  readonly label?: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A table that may be wider than its place. It moves sideways, so the keyboard has to reach it too. */
export function TableScroll({ label = "table", class: name, children }: TableScrollProps) {
  return (
    <div
      class={name === undefined ? "table-scroll" : `table-scroll ${name}`}
      tabIndex={0}
      role="group"
      aria-label={label}
    >
      {children}
    </div>
  );
}
