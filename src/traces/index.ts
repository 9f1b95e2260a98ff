export { trajectory } from "./atif.js";
export { otlp } from "./otlp.js";
export { type Collector, collectorOf, sendSpans, tracesAt } from "./send.js";
export { type LogLine, spansOf, type TraceInput } from "./trace.js";
