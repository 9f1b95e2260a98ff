// The frame both pages share: a bar, a list of views, the view.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./parts.js";

export interface View {
  readonly id: string;
  readonly label: string;
  readonly icon: IconName;
  readonly count?: number | string;
  readonly alert?: boolean;
}

interface ShellProps {
  readonly product: string;
  readonly bar: ComponentChildren;
  readonly views: readonly View[];
  readonly current: string;
  readonly children: ComponentChildren;
}

export function Shell({ product, bar, views, current, children }: ShellProps) {
  const main = useRef<HTMLElement>(null);
  const nav = useRef<HTMLElement>(null);
  const [first, setFirst] = useState(true);
  // A new view starts at its top, and the keyboard goes on from there.
  useEffect(() => {
    if (first) {
      setFirst(false);
      return;
    }
    window.scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [current]);
  // On a narrow screen the list of views is wider than the screen.
  useEffect(() => {
    const list = nav.current;
    const link = list?.querySelector<HTMLElement>('[aria-current="page"]');
    if (list && link && list.scrollWidth > list.clientWidth)
      list.scrollLeft = link.offsetLeft - (list.clientWidth - link.offsetWidth) / 2;
  }, [current]);
  // On paper nothing can be opened: everything is.
  useEffect(() => {
    const unfold = () => {
      for (const details of document.querySelectorAll("details")) details.open = true;
    };
    addEventListener("beforeprint", unfold);
    return () => removeEventListener("beforeprint", unfold);
  }, []);
  return (
    <div class="shell">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the content
      </a>
      <header class="bar">
        <span class="brand">
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <path class="nut" d="M16 3C9 3 4 10 4 17c0 7 5 12 12 12s12-5 12-12C28 10 23 3 16 3Z" />
            <path class="seam" d="M16 3v26M16 9c-4 2-6 5-6 9M16 9c4 2 6 5 6 9" />
          </svg>
          {product}
        </span>
        <div class="bar-content">{bar}</div>
      </header>
      <nav class="nav" aria-label="views" ref={nav}>
        <ul>
          {views.map(({ id, label, icon, count, alert }) => (
            <li key={id}>
              <a href={routeTo(id)} aria-current={id === current ? "page" : undefined}>
                <Icon name={icon} />
                <span class="label">{label}</span>
                {count === undefined ? null : <span class={`count ${alert === true ? "alert" : ""}`}>{count}</span>}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main class="main" id="main" tabIndex={-1} ref={main}>
        {children}
      </main>
    </div>
  );
}

export type Params = Readonly<Record<string, string>>;

/** `#/files/src/main.go?wrap=no` → ["files", "src/main.go", { wrap: "no" }]. */
export function useRoute(): readonly [view: string, rest: string, params: Params] {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = () => setHash(location.hash);
    addEventListener("hashchange", follow);
    // The address may have changed between the first drawing and this line.
    follow();
    return () => removeEventListener("hashchange", follow);
  }, []);
  const [, view = "", rest = "", query = ""] = /^#\/([a-z]*)\/?([^?]*)(?:\?(.*))?$/s.exec(hash) ?? [];
  return [view, decode(rest), Object.fromEntries(new URLSearchParams(query))];
}

/** What is chosen on a page is in its address: a reload, and whoever is sent the link, see the same. */
export function setParam(name: string, value: string): void {
  const [path = "#/", query = ""] = location.hash.split("?");
  const params = new URLSearchParams(query);
  if (value === "") params.delete(name);
  else params.set(name, value);
  const text = params.toString();
  history.replaceState(null, "", `${path || "#/"}${text === "" ? "" : `?${text}`}`);
  dispatchEvent(new Event("hashchange"));
}

/** One choice, as the address has it. */
export function useParam(name: string): readonly [value: string, set: (value: string) => void] {
  const [, , params] = useRoute();
  return [params[name] ?? "", (value) => setParam(name, value)];
}

/** Which project, and which of two bundles, is looked at stays chosen. */
export function routeTo(view: string, rest = "", params: Params = {}): string {
  const now = new URLSearchParams(location.hash.split("?")[1] ?? "");
  const kept = ["project", "side"].flatMap((name) => (now.has(name) ? [[name, now.get(name)!]] : []));
  const query = new URLSearchParams({ ...Object.fromEntries(kept), ...params }).toString();
  const path = rest === "" ? "" : `/${rest.split("/").map(encodeURIComponent).join("/")}`;
  return `#/${view}${path}${query === "" ? "" : `?${query}`}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The time, kept fresh for whatever says "3 min ago". */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
