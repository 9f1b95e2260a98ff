// A run at work, with whoever wants to know of it: a collector of spans, and those the project's configuration names.
import type { Context } from "../../../operation.js";
import type { RunFolder } from "../../../run/index.js";
import type { ProjectConfig } from "../../../schema/catalog.js";
import type { RunOptions } from "../../../schema/run.js";
import { liveTrace } from "./live-trace.js";
import { notifier } from "./notify.js";
import type { RunResult } from "./result.js";

interface Watched {
  readonly folder: RunFolder;
  readonly options: RunOptions;
  readonly config: ProjectConfig;
  readonly context: Context;
}

/** Works, and comes back when everybody has been told or cannot be. */
export async function watched(
  { folder, options, config, context }: Watched,
  work: (context: Context) => Promise<RunResult>,
): Promise<RunResult> {
  const notices = notifier(config.notify ?? [], { id: folder.id, title: options.title, yes: options.yes }, context);
  const live = liveTrace(folder, options, {
    ...context,
    progress(event) {
      context.progress(event);
      notices.hear(event);
    },
  });
  try {
    const result = await work(live.context);
    if (result.delivery !== undefined && result.recorded !== true) {
      notices.ended(result.delivery.result.status, result.delivery.result.summary ?? "");
    }
    return result;
  } finally {
    await Promise.all([live.close(), notices.close()]);
  }
}
