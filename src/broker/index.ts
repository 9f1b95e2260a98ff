export { type Admission, type Broker, type BrokerInput, type Lent, openBroker } from "./broker.js";
export { describePolicy, limitWords } from "./describe.js";
export { PLACEHOLDER } from "./environment.js";
export { type Policy, type PolicyInput, policyOf, servableType } from "./policy.js";
export type { BrokerUse } from "./use.js";
