// Statements as we write them.
import type { Delivery } from "../schema/delivery.js";
import type { Manifest } from "../schema/manifest.js";
import { PREDICATES, STATEMENT_TYPE, type Statement, type StatementOf } from "../schema/statement.js";
import { VERSION } from "../version.js";

const TOOL = { name: "nutcracker", version: VERSION };

/** A bundle by id and content digest (`sha256:…`). */
export interface BundleName {
  readonly id: string;
  readonly digest: string;
}

const content = (digest: string) => ({ nutshellContent: digest.replace(/^sha256:/, "") });

const subjectOf = ({ id, digest }: BundleName): [{ name: string; digest: { nutshellContent: string } }] => [
  { name: id, digest: content(digest) },
];

export function requestStatement(bundle: BundleName, manifest: Manifest, at: Date): Statement {
  const title = manifest.task?.title;
  return {
    _type: STATEMENT_TYPE,
    subject: subjectOf(bundle),
    predicateType: PREDICATES.request,
    predicate: { signedOn: at.toISOString(), ...(title === undefined ? {} : { title }), tool: TOOL },
  };
}

type DeliveryFacts = StatementOf<"delivery">["predicate"]["nutshell"];

/** What the harness knows because it did the work itself; absent when a finished delivery is signed later. */
export interface RunFacts {
  readonly run: string;
  readonly startedOn: string;
  readonly agents: DeliveryFacts["agents"];
  readonly sandboxed: boolean;
  readonly trials?: number;
  readonly compared: boolean;
  readonly proven: number;
}

export interface DeliveryInput {
  readonly bundle: BundleName;
  readonly request: BundleName;
  readonly delivery: Delivery;
  readonly at: Date;
  readonly facts: RunFacts | null;
}

/** SLSA provenance of a delivery. Without the run's own facts it repeats what the delivery says of itself. */
export function deliveryStatement({ bundle, request, delivery, at, facts }: DeliveryInput): Statement {
  const asked = { name: request.id, digest: content(request.digest) };
  const { base } = delivery;
  const commit = base === undefined ? [] : [{ name: "base", digest: { gitCommit: base.commit } }];
  const { result, tests } = delivery.digests ?? {};
  return {
    _type: STATEMENT_TYPE,
    subject: subjectOf(bundle),
    predicateType: PREDICATES.delivery,
    predicate: {
      buildDefinition: {
        buildType: "urn:nutshell:run:1",
        externalParameters: { request: asked },
        resolvedDependencies: [asked, ...commit],
      },
      runDetails: {
        builder: {
          id: facts === null ? "urn:nutshell:signed-later" : "urn:nutshell:nexus-run",
          version: { [TOOL.name]: TOOL.version },
        },
        metadata: {
          ...(facts === null ? {} : { invocationId: facts.run, startedOn: facts.startedOn }),
          ...(delivery.completed_at === undefined ? {} : { finishedOn: delivery.completed_at }),
        },
      },
      nutshell: {
        signedOn: at.toISOString(),
        status: delivery.status,
        agents: facts?.agents ?? agentsOf(delivery),
        acceptance: acceptanceOf(delivery, facts),
        digests: { ...(result === undefined ? {} : { result }), ...(tests === undefined ? {} : { tests }) },
      },
    },
  };
}

function agentsOf({ deliverer }: Delivery): DeliveryFacts["agents"] {
  if (deliverer === undefined) return [];
  const { name, version, model } = deliverer;
  return [
    {
      driver: name,
      ...(version === undefined ? {} : { version }),
      ...(model === undefined ? {} : { models: [model] }),
    },
  ];
}

function acceptanceOf({ acceptance_results: results }: Delivery, facts: RunFacts | null) {
  const counts = { passed: results?.tests_passed ?? 0, failed: results?.tests_failed ?? 0 };
  if (facts === null) return counts;
  const { sandboxed, trials, compared, proven } = facts;
  return { sandboxed, ...(trials === undefined ? {} : { trials }), compared, ...counts, proven };
}

export interface VerdictInput {
  readonly bundle: BundleName;
  readonly request: BundleName;
  readonly at: Date;
  readonly platform: string;
  /** PASSED: the whole verification said yes; FAILED: something was found against it; WARNED: neither. */
  readonly result: StatementOf<"verdict">["predicate"]["result"];
  /** Ids of criteria as this rerun found them. */
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  readonly acceptance: StatementOf<"verdict">["predicate"]["nutshell"]["acceptance"];
  readonly hidden: { readonly count: number; readonly run: boolean } | null;
  readonly digests: { readonly result: string; readonly tests: string };
}

export function verdictStatement(input: VerdictInput): Statement {
  const { bundle, request, at, platform, result, passed, failed, acceptance, hidden, digests } = input;
  return {
    _type: STATEMENT_TYPE,
    subject: subjectOf(bundle),
    predicateType: PREDICATES.verdict,
    predicate: {
      result,
      configuration: [{ name: request.id, digest: content(request.digest) }],
      passedTests: [...passed],
      failedTests: [...failed],
      nutshell: {
        signedOn: at.toISOString(),
        tool: TOOL,
        platform,
        acceptance,
        ...(hidden === null ? {} : { hidden }),
        digests,
      },
    },
  };
}
