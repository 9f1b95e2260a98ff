// Runs that older versions wrote, brought to the current form one version at a time. Nothing else knows the old shapes.

type Fields = Readonly<Record<string, unknown>>;

interface Migration {
  /** `run.json` of one version as the next writes it. */
  readonly options: (old: Fields) => Fields;
  /** The same for one record of `journal.jsonl`. */
  readonly record: (old: Fields) => Fields;
}

/** From version n to n + 1, in order. */
export const RUN_MIGRATIONS: readonly Migration[] = [
  {
    // Version 1 named no version, called the acceptance's report "results" and a reviewer's judgements "verdicts".
    options: (old) => ({ ...old, version: 2 }),
    record: ({ results, verdicts, ...rest }) => {
      if (rest.type === "created") return { ...rest, version: 2 };
      if (rest.type === "accepted") return { ...rest, report: results };
      return rest.type === "agent_ended" ? { ...rest, judgements: verdicts } : rest;
    },
  },
  {
    // Version 2 knew neither waits nor another program taking over; nothing in it changes.
    options: (old) => ({ ...old, version: 3 }),
    record: (old) => (old.type === "created" ? { ...old, version: 3 } : old),
  },
];
