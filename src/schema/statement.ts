// What somebody vouches for: in-toto Statements v1 about a bundle's content digest, carried in DSSE envelopes. A delivery's
// predicate is SLSA provenance v1, a verdict's is in-toto's test-result; both with a `nutshell` part of our own.
import { z } from "zod";
import { DeliveryStatus } from "./delivery.js";
import { BundleId, type DeepReadonly, Sha256, Timestamp } from "./shared.js";

export const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
export const PAYLOAD_TYPE = "application/vnd.in-toto+json";

/** The SSHSIG namespace of every signature we make or believe. */
export const NAMESPACE = "nutshell";

export const PREDICATES = {
  request: "urn:nutshell:request:1",
  delivery: "https://slsa.dev/provenance/v1",
  verdict: "https://in-toto.io/attestation/test-result/v0.1",
} as const;
export type StatementKind = keyof typeof PREDICATES;

const Content = z
  .looseObject({ nutshellContent: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hex digits") })
  .describe("the content digest, 64 hex digits");

/** A bundle by its content. */
const Resource = z.looseObject({ name: z.string().optional(), uri: z.string().optional(), digest: Content });

const Subject = z.looseObject({ name: BundleId, digest: Content });

const Tool = z.looseObject({ name: z.string(), version: z.string() }).describe("what wrote the statement");

const RequestPredicate = z.looseObject({
  signedOn: Timestamp,
  title: z.string().optional(),
  tool: Tool,
});

const Agent = z.looseObject({
  driver: z.string(),
  version: z.string().optional(),
  models: z.array(z.string()).optional(),
});

const Acceptance = z.looseObject({
  sandboxed: z.boolean().optional().describe("whether the checks ran in bubblewrap"),
  trials: z.int().positive().optional().describe("how often each check ran on base and result"),
  compared: z.boolean().optional().describe("whether the untouched request was asked too"),
  passed: z.int().nonnegative(),
  failed: z.int().nonnegative(),
  proven: z.int().nonnegative().optional(),
});

const DeliveryPredicate = z.looseObject({
  buildDefinition: z.looseObject({
    buildType: z.literal("urn:nutshell:run:1"),
    externalParameters: z.looseObject({ request: Resource }),
    resolvedDependencies: z
      .array(z.looseObject({ name: z.string().optional(), uri: z.string().optional(), digest: z.looseObject({}) }))
      .optional()
      .describe("the request, and the commit the work began with"),
  }),
  runDetails: z.looseObject({
    builder: z.looseObject({ id: z.string(), version: z.record(z.string(), z.string()).optional() }),
    metadata: z.looseObject({
      invocationId: z.string().optional(),
      startedOn: Timestamp.optional(),
      finishedOn: Timestamp.optional(),
    }),
  }),
  nutshell: z.looseObject({
    signedOn: Timestamp,
    status: DeliveryStatus,
    agents: z.array(Agent),
    acceptance: Acceptance.optional(),
    digests: z.looseObject({ result: Sha256.optional(), tests: Sha256.optional() }),
  }),
});

export const TEST_RESULTS = ["PASSED", "WARNED", "FAILED"] as const;

const VerdictPredicate = z.looseObject({
  result: z.enum(TEST_RESULTS),
  configuration: z.array(Resource).min(1).describe("the request whose checks were run"),
  passedTests: z.array(z.string()).optional(),
  failedTests: z.array(z.string()).optional(),
  nutshell: z.looseObject({
    signedOn: Timestamp,
    tool: Tool,
    platform: z.string().describe("where it ran, such as linux-x64"),
    acceptance: Acceptance,
    hidden: z.looseObject({ count: z.int().nonnegative(), run: z.boolean() }).optional(),
    digests: z.looseObject({ result: Sha256, tests: Sha256 }).describe("of the tree and the tests of this rerun"),
  }),
});

const base = { _type: z.literal(STATEMENT_TYPE), subject: z.array(Subject).length(1) };

export const Statement = z
  .discriminatedUnion("predicateType", [
    z.looseObject({ ...base, predicateType: z.literal(PREDICATES.request), predicate: RequestPredicate }),
    z.looseObject({ ...base, predicateType: z.literal(PREDICATES.delivery), predicate: DeliveryPredicate }),
    z.looseObject({ ...base, predicateType: z.literal(PREDICATES.verdict), predicate: VerdictPredicate }),
  ])
  .describe("in-toto Statement v1 about a request, a delivery or a verdict");
export type Statement = DeepReadonly<z.infer<typeof Statement>>;
export type StatementOf<Kind extends StatementKind> = Extract<
  Statement,
  { readonly predicateType: (typeof PREDICATES)[Kind] }
>;

/** DSSE. `payload` and `sig` are base64; `sig` is a whole SSHSIG blob. */
export const Envelope = z
  .looseObject({
    payloadType: z.literal(PAYLOAD_TYPE),
    payload: z.string(),
    signatures: z
      .array(z.looseObject({ keyid: z.string().max(256).optional(), sig: z.string().max(16_384) }))
      .min(1)
      .max(16),
  })
  .describe("DSSE envelope around a statement; x.nut.sigs holds one per line");
export type Envelope = DeepReadonly<z.infer<typeof Envelope>>;
