// Long lists: only the rows near the visible part exist.
import { type ComponentChildren, options } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

interface VirtualProps {
  readonly count: number;
  readonly rowHeight: number;
  readonly row: (index: number) => ComponentChildren;
  readonly label: string;
  readonly role?: "list" | "tree";
  readonly class?: string;
  /** No taller than its rows. */
  readonly fit?: boolean;
  /** Brought into sight when it changes. */
  readonly focus?: number;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
}

const SPARE = 8;
/** On paper every row is there, up to this many. */
const MOST_PRINTED = 5_000;

/** What is drawn for paper must be there when the browser's own word of it has been heard, so it is drawn at once. */
export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const draw = (value: boolean) => () => {
      const later = options.debounceRendering;
      options.debounceRendering = (render) => render();
      setPrinting(value);
      if (later === undefined) delete options.debounceRendering;
      else options.debounceRendering = later;
    };
    const [before, after] = [draw(true), draw(false)];
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
    return () => {
      removeEventListener("beforeprint", before);
      removeEventListener("afterprint", after);
    };
  }, []);
  return isPrinting;
}

export function Virtual({
  count,
  rowHeight,
  row,
  label,
  role = "list",
  class: extra = "",
  fit = false,
  focus,
  onKeyDown,
}: VirtualProps) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useLayoutEffect(() => {
    const element = box.current!;
    const measure = () => setHeight(element.clientHeight || 600);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const element = box.current;
    if (element === null || focus === undefined || focus < 0) return;
    const at = focus * rowHeight;
    if (at < element.scrollTop) element.scrollTop = at;
    else if (at + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = at + rowHeight - element.clientHeight;
  }, [focus, rowHeight]);
  const isWhole = usePrinting() && count <= MOST_PRINTED;
  const first = isWhole ? 0 : Math.max(0, Math.floor(top / rowHeight) - SPARE);
  const last = isWhole ? count : Math.min(count, Math.ceil((top + height) / rowHeight) + SPARE);
  const rows = [];
  for (let index = first; index < last; index += 1) rows.push(row(index));
  return (
    <div
      class={`virtual ${extra}`}
      ref={box}
      role={role}
      aria-label={label}
      tabIndex={0}
      style={fit && !isWhole ? { height: `${count * rowHeight + 18}px` } : undefined}
      onScroll={() => setTop(box.current!.scrollTop)}
      onKeyDown={onKeyDown}
    >
      <div class="virtual-space" role="presentation" style={{ height: `${count * rowHeight}px` }}>
        <div class="virtual-rows" role="presentation" style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {rows}
        </div>
      </div>
    </div>
  );
}
