// How the pages ask their server. The key that the one-time link is exchanged for is kept by the page (its storage belongs
// to this address and port alone) and sent as a header: no other page and no other server of this machine ever has it.

const STORED = "nutcracker-key";
let key = stored();
let entering: Promise<void> | null = null;

/** A link that is pasted into a page that is open already does not load it again. */
addEventListener("hashchange", () => {
  if (linkIn(location.hash) !== null) location.reload();
});

/** As fetch, with the key. */
export async function ask(address: string, init: RequestInit = {}): Promise<Response> {
  entering ??= enter();
  await entering;
  try {
    const response = await fetch(address, { ...init, headers: { ...init.headers, "x-nutcracker-key": key } });
    hear(response.status === 403 ? "refused" : "there");
    return response;
  } catch (error) {
    if (init.signal?.aborted !== true) hear("gone");
    throw error;
  }
}

/** Whether the server answered the last time it was asked, and let us in. */
export type Answering = "there" | "gone" | "refused";

let hear: (answering: Answering) => void = () => {};

export function onAnswering(listen: (answering: Answering) => void): void {
  hear = listen;
}

export async function askJson<T>(address: string, init?: RequestInit): Promise<T> {
  const response = await ask(address, init);
  if (!response.ok) throw new Error((await response.text()).trim());
  return (await response.json()) as T;
}

/** A download is a link, and links carry no headers: a ticket for this one address stands in for the key. */
export async function download(address: string, name: string): Promise<void> {
  const { ticket } = await askJson<{ ticket: string }>(`/ticket?for=${encodeURIComponent(address)}`);
  const link = document.createElement("a");
  link.href = `${address}?ticket=${ticket}`;
  link.download = name;
  link.click();
}

/** Exchanges the link this page was opened with. One that was used before still works for whoever it let in. */
async function enter(): Promise<void> {
  const link = linkIn(location.hash);
  if (link === null) return;
  history.replaceState(null, "", "#/");
  const response = await fetch("/enter", { headers: { "x-nutcracker-link": link } });
  if (!response.ok) return;
  ({ key } = (await response.json()) as { key: string });
  try {
    localStorage.setItem(STORED, key);
  } catch {
    // No storage: the key lasts as long as the page.
  }
}

function linkIn(hash: string): string | null {
  return /^#link=([\w-]+)$/.exec(hash)?.[1] ?? null;
}

function stored(): string {
  try {
    return localStorage.getItem(STORED) ?? "";
  } catch {
    return "";
  }
}
