export { isLoopback, lineAt, parseAddress } from "./address.js";
export { type CreateTask, hashOf, Market, sameHash } from "./client.js";
export { type DeliveryRoute, deliveryRoute } from "./delivery-route.js";
export { NoAnswer } from "./http.js";
export { type Cost, costOf, type PreflightFacts, preflight, resolveReward } from "./preflight.js";
