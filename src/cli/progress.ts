import type { Progress } from "../operation.js";
import type { Io } from "./io.js";
import { render, yellow } from "./text.js";

export interface ProgressLine {
  readonly show: (event: Progress) => void;
  /** Removes the moving line, so that what follows starts on a clean one. */
  readonly clear: () => void;
}

interface ProgressOptions {
  readonly program: string;
  readonly quiet: boolean;
  readonly color: boolean;
}

/** Shows events on stderr: warnings always, messages unless quiet, a moving counter only on a terminal. */
export function progressLine(io: Io, { program, quiet, color }: ProgressOptions): ProgressLine {
  let moving = false;
  let lastDrawn = 0;
  const clear = () => {
    if (moving) io.stderr.write("\r\x1b[K");
    moving = false;
  };
  const line = (text: string) => {
    clear();
    io.stderr.write(`${render(text, color)}\n`);
  };
  return {
    clear,
    show(event) {
      if (event.type === "warning") line(`${program}: ${yellow("warning:")} ${event.message ?? ""}`);
      else if (quiet || event.message === undefined) return;
      else if (event.total === undefined) line(event.message);
      else if (io.stderr.isTTY === true) {
        // Redrawing more often than the eye follows costs more than the work being shown.
        const now = io.now().getTime();
        if (now - lastDrawn < 80 && event.done !== event.total) return;
        lastDrawn = now;
        const columns = io.stderr.columns ?? 80;
        const text = `${event.message} ${event.done ?? 0}/${event.total}`;
        io.stderr.write(`\r\x1b[K${render(text, color).slice(0, columns - 1)}`);
        moving = true;
      }
    },
  };
}
