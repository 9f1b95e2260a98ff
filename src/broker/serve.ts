// The broker's side of its process: who starts it loads none of this.
import type { Readable, Writable } from "node:stream";
import { readLines } from "../process/index.js";
import { type Admission, type Broker, openBroker } from "./broker.js";
import type { Question, Reply } from "./process.js";

/** Answers until its standard input ends. */
export async function serveBroker(input: Readable, output: Writable): Promise<void> {
  let broker: Broker | null = null;
  const admissions = new Map<number, Admission>();
  const say = (reply: Reply) => void output.write(`${JSON.stringify(reply)}\n`);
  const answer = async (question: Question): Promise<unknown> => {
    if (question.op === "open") {
      broker = await openBroker({ allowOrigins: question.allowOrigins, onUse: (use) => say({ use }) });
      return { origin: broker.origin };
    }
    if (broker === null) throw new Error("it is not open");
    if (question.op === "lend") return broker.lend(question.lent);
    if (question.op === "admit") {
      const { close, ...told } = await broker.admit(question.who);
      admissions.set(question.id, { ...told, close });
      return told;
    }
    if (question.op === "dismiss") {
      await admissions.get(question.admission)?.close();
      return admissions.delete(question.admission);
    }
    return broker.close();
  };
  let last: Promise<unknown> = Promise.resolve();
  await new Promise<void>((resolve) => {
    readLines(input, (line) => {
      const question = JSON.parse(line) as Question;
      // One after the other, as they were asked.
      last = last.then(() =>
        answer(question).then(
          (result) => say({ id: question.id, result: result ?? null }),
          (error: unknown) => say({ id: question.id, error: error instanceof Error ? error.message : "it failed" }),
        ),
      );
    });
    input.once("end", resolve);
    input.once("close", resolve);
  });
  await last;
  await (broker as Broker | null)?.close();
}
