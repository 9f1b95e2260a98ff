export { DEFAULT_ADDRESS, isLoopback, parseAddress } from "./address.js";
export { type CreateTask, checkId, hashOf, MAX_BUNDLE_BYTES, Market, sameHash } from "./client.js";
export { type DeliveryRoute, deliveryRoute } from "./delivery-route.js";
export { NoAnswer } from "./http.js";
export { type Cost, costOf, DEFAULT_REWARD, preflight, resolveReward } from "./preflight.js";
export { readRefusal } from "./refusal.js";
