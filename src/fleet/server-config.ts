// What a server needs to be told so that one tenant never meets another, and nobody may do more than their part: one account
// per tenant, three users in it. Passwords are variables of the server's environment; none is written down.
import { inboxOf } from "./connect.js";
import { BUNDLES, EVENTS, JOBS, RUNS, SETTINGS, WAKE, WORK, WORKERS } from "./names.js";

export const ROLES = ["admin", "submitter", "worker", "watcher"] as const;
export type Role = (typeof ROLES)[number];

const STREAMS = [
  WORK,
  EVENTS,
  ...[JOBS, SETTINGS, WORKERS].map((name) => `KV_${name}`),
  ...[BUNDLES, RUNS].map((name) => `OBJ_${name}`),
];

const info = STREAMS.map((stream) => `$JS.API.STREAM.INFO.${stream}`);
/** Records and stored files, read one at a time. */
const read = (...streams: readonly string[]) =>
  streams.flatMap((stream) => [
    `$JS.API.STREAM.MSG.GET.${stream}`,
    `$JS.API.DIRECT.GET.${stream}`,
    `$JS.API.DIRECT.GET.${stream}.>`,
  ]);
/** Records and events, read in a row, by a consumer that goes when its reader does. */
const follow = (...streams: readonly string[]) =>
  streams.flatMap((stream) => [
    `$JS.API.CONSUMER.CREATE.${stream}`,
    `$JS.API.CONSUMER.CREATE.${stream}.>`,
    `$JS.API.CONSUMER.INFO.${stream}.*`,
    `$JS.API.CONSUMER.DELETE.${stream}.*`,
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
    `$JS.ACK.${stream}.>`,
    `$JS.FC.${stream}.>`,
  ]);

const look = [
  "$JS.API.INFO",
  ...info,
  ...read(`KV_${JOBS}`, `KV_${SETTINGS}`, `KV_${WORKERS}`),
  ...follow(`KV_${JOBS}`, `KV_${WORKERS}`, EVENTS),
];

/** What each may publish. Nobody but the admin makes, changes or empties a stream. */
export const MAY_PUBLISH: Readonly<Record<Role, readonly string[]>> = {
  admin: [">"],
  watcher: look,
  submitter: [
    ...look,
    ...read(`OBJ_${BUNDLES}`, WORK),
    `$O.${BUNDLES}.>`,
    `$KV.${JOBS}.>`,
    "nut.work.>",
    "nut.events.*",
    WAKE,
  ],
  worker: [
    ...look,
    ...read(`OBJ_${BUNDLES}`, `OBJ_${RUNS}`, WORK),
    `$O.${BUNDLES}.>`,
    `$O.${RUNS}.>`,
    `$JS.API.STREAM.PURGE.OBJ_${RUNS}`,
    `$KV.${JOBS}.>`,
    `$KV.${WORKERS}.>`,
    `$KV.${SETTINGS}.spent`,
    `$JS.API.CONSUMER.DURABLE.CREATE.${WORK}.*`,
    `$JS.API.CONSUMER.CREATE.${WORK}.>`,
    `$JS.API.CONSUMER.INFO.${WORK}.*`,
    `$JS.API.CONSUMER.MSG.NEXT.${WORK}.*`,
    `$JS.ACK.${WORK}.>`,
    "nut.events.*",
    WAKE,
  ],
};

export interface ConfigInput {
  readonly tenants: readonly string[];
  /** Of the server, when one was asked; null when none was. */
  readonly version: string | null;
}

/** Immediate sync came with 2.10; before it, a server does not start over the word. */
export const knowsSync = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 2 || (major === 2 && minor >= 10);
};

export function serverConfig({ tenants, version }: ConfigInput): string {
  const sync =
    version !== null && knowsSync(version)
      ? [
          "  # every acknowledged message is on the disk: without it, a power cut of a majority loses the last ones",
          "  sync_interval: always",
        ]
      : [
          "  # from 2.10 on: every acknowledged message is on the disk; before it, a server does not know the word",
          "  # sync_interval: always",
        ];
  return [
    "# nats-server -c this-file. A cluster of three adds server_name, cluster { name, listen, routes } to each.",
    "# Passwords come from the server's environment: export the variables named here before it starts,",
    "# each beginning with a letter: the server takes what begins like a number for one.",
    "listen: 127.0.0.1:4222",
    "# off this machine: tls { cert_file: …, key_file: … }, and nexus is given tls://host:4222",
    "jetstream {",
    '  store_dir: "./jetstream"',
    ...sync,
    "}",
    "accounts {",
    ...tenants.flatMap(accountOf),
    "}",
    "",
  ].join("\n");
}

function accountOf(tenant: string): string[] {
  return [
    `  ${tenant} {`,
    "    jetstream: enabled",
    "    users: [",
    ...ROLES.flatMap((role) => userOf(tenant, role)),
    "    ]",
    "  }",
  ];
}

export const userName = (tenant: string, role: Role): string => `${tenant}-${role}`;
export const passwordVariable = (tenant: string, role: Role): string =>
  `NUT_${tenant}_${role}`.toUpperCase().replaceAll("-", "_");

function userOf(tenant: string, role: Role): string[] {
  const user = userName(tenant, role);
  const list = (subjects: readonly string[]) => `[${subjects.map((subject) => JSON.stringify(subject)).join(", ")}]`;
  const hears = role === "admin" ? [">"] : [`${inboxOf(user)}.>`, ...(role === "worker" ? [WAKE] : [])];
  return [
    `      { user: ${user}, password: $${passwordVariable(tenant, role)}, permissions: {`,
    `          publish: { allow: ${list(MAY_PUBLISH[role])} }`,
    `          subscribe: { allow: ${list(hears)} } } }`,
  ];
}
