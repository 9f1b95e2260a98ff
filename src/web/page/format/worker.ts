import { format, type Question } from "./format.js";

self.onmessage = ({ data }: MessageEvent<Question>) => self.postMessage(format(data));
self.postMessage("ready");
