// What the doors of hosts need from below.
export { findHost, type Host, type PluginAnswer, type PluginNote } from "../hosts/index.js";
export { hostProcess } from "../session/sessions.js";
