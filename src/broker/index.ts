export { type Admission, type Broker, type BrokerInput, openBroker } from "./broker.js";
export { describePolicy, limitWords } from "./describe.js";
export { PLACEHOLDER, proxyVariables } from "./environment.js";
export { type Policy, type PolicyInput, policyOf, servableType } from "./policy.js";
export { type BrokerProgram, startBroker } from "./process.js";
export type { BrokerUse } from "./use.js";
