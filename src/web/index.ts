export { serveViewer, type ViewerOptions } from "./viewer.js";
