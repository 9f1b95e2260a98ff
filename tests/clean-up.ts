import { afterAll } from "vitest";
import { sweepTemporary } from "./temporary.js";

afterAll(sweepTemporary);
