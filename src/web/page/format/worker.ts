import { type FormatQuestion, format } from "./format.js";

self.onmessage = ({ data }: MessageEvent<FormatQuestion>) => self.postMessage(format(data));
self.postMessage("ready");
