// A delivery about a row's work, made by hand.
import { REQUEST_ID, type Stage } from "./stage.js";
import type { Content, Files, JsonObject, Parcel } from "./table.js";

const ANSWER = "nut-0f000000-0000-4000-8000-00000000000b";

/** What `accept` gives a forger to write with. */
export interface Known {
  readonly digests: JsonObject;
  readonly ids: readonly string[];
}

/** What a harness would write about this work if everything had passed: each lie is told as well as it can be. */
export function parcelOf(
  stage: Stage,
  work: Files,
  { digests, ids }: Known,
  request: string | null,
  checklist: readonly string[],
): Parcel {
  const named = (wanted: (path: string, content: Content) => boolean, prefix: string) =>
    Object.entries(work)
      .filter(([path, content]) => wanted(path, content))
      .map(([path]) => ({ path: `${prefix}${path}` }));
  const known = (path: string) => path in stage.baseFiles || path in { "context/requirements.md": 1 };
  const delivered = (content: Content) => content !== null && !(typeof content === "object" && "folder" in content);
  const files: Record<string, Content> = {};
  for (const [path, content] of Object.entries(work)) {
    if (delivered(content)) files[`delivery/artifacts/${path}`] = content;
  }
  const criteria = ids.map((id) => {
    const log = `delivery/logs/${id.replaceAll(/[^\w.-]/g, "-")}.log`;
    files[log] = "passed\n";
    return { id, status: "passed", evidence: "proven", log };
  });
  return {
    manifest: {
      nutshell_version: "0.2.0",
      bundle_type: "delivery",
      id: ANSWER,
      request_id: REQUEST_ID,
      parent_id: REQUEST_ID,
      status: "completed",
      task: { title: "An answer", summary: "what was asked for" },
    },
    result: {
      nutshell_version: "0.2.0",
      bundle_type: "delivery",
      request_id: REQUEST_ID,
      parent_id: REQUEST_ID,
      status: "completed",
      completion_percentage: 100,
      summary: "done",
      artifacts: {
        files_created: named((path, content) => delivered(content) && !known(path), "delivery/artifacts/"),
        files_modified: named((path, content) => delivered(content) && known(path), "delivery/artifacts/"),
        files_deleted: named((_, content) => content === null, ""),
      },
      acceptance_results: {
        tests_passed: criteria.length,
        tests_failed: 0,
        criteria,
        checklist: checklist.map((item) => ({ item, status: "passed", evidence: "judged", note: "looked at it" })),
      },
      digests: { ...digests, ...(request === null ? {} : { request }) },
    },
    files,
  };
}
