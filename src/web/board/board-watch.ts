// Tells when something changed under a few folders. The system's own notice is quick but not to be relied on (folders
// come and go, some file systems stay silent), so everything is looked at twice a second as well.
import { type FSWatcher, watch } from "node:fs";

export interface Watch {
  stop(): void;
}

const POLL_MS = 500;
/** Writers replace files in several steps; one look afterwards is enough. */
const SETTLE_MS = 40;

export function watchFolders(folders: () => readonly string[], look: () => void): Watch {
  const watchers = new Map<string, FSWatcher>();
  let soon: NodeJS.Timeout | null = null;
  const notice = () => {
    soon ??= setTimeout(() => {
      soon = null;
      look();
    }, SETTLE_MS);
  };
  const follow = () => {
    const wanted = new Set(folders());
    for (const [folder, watcher] of watchers) {
      if (wanted.has(folder)) continue;
      watcher.close();
      watchers.delete(folder);
    }
    for (const folder of wanted) if (!watchers.has(folder)) add(watchers, folder, notice);
  };
  follow();
  const timer = setInterval(() => {
    follow();
    look();
  }, POLL_MS);
  return {
    stop: () => {
      clearInterval(timer);
      if (soon !== null) clearTimeout(soon);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}

function add(watchers: Map<string, FSWatcher>, folder: string, notice: () => void): void {
  try {
    const watcher = watch(folder, { persistent: false }, notice);
    const forget = () => {
      watcher.close();
      watchers.delete(folder);
    };
    watcher.on("error", forget);
    watcher.on("change", (event) => {
      // A folder that was removed and made again needs a new watcher.
      if (event === "rename") notice();
    });
    watchers.set(folder, watcher);
  } catch {
    // Not there yet, or out of watches: the clock looks anyway.
  }
}
