// The ledger: a process that is never killed. It writes down what the process under test tells it, syncs, and only then
// says so. It knows nothing of the engine.
//
// One life is heard to its end before the next one is: what a killed process wrote last still stands in its socket.
import { fdatasyncSync, openSync, writeSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { Greeting, LedgerRecord } from "./records.ts";

const folder = process.argv[2]!;
const file = openSync(join(folder, "ledger.jsonl"), "a");

let next = 0;
let ackedCount = 0;
const unanswered = new Set<number>();
const unended = new Map<string, readonly [number, number]>();
const ended = new Set<string>();

function take(record: LedgerRecord): void {
  switch (record[0]) {
    case "try":
      unanswered.add(record[1]);
      next = Math.max(next, record[1] + 1);
      return;
    case "ack": {
      const [, , call, ids, , decisions] = record;
      unanswered.delete(call);
      ackedCount += ids.length;
      for (const [eventId, , , runId] of decisions) {
        if (runId !== null && !ended.has(runId)) unended.set(runId, [call, ids.indexOf(eventId)]);
      }
      return;
    }
    case "ack-other":
      ackedCount++;
      return;
    case "end":
      unended.delete(record[1]);
      ended.add(record[1]);
  }
}

const greeting = (): Greeting => ({
  next,
  unanswered: [...unanswered],
  unended: [...unended].map(([run, [call, index]]) => [run, call, index]),
  ackedCount,
});

let lives: Promise<void> = Promise.resolve();

function hear(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    let rest = "";
    let lines: string[] = [];
    let heard = 0;
    let planned = false;
    const write = () => {
      planned = false;
      if (lines.length === 0) return;
      const batch = `${lines.join("\n")}\n`;
      lines = [];
      writeSync(file, batch);
      fdatasyncSync(file);
      if (socket.writable) socket.write(`${heard}\n`);
    };
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      const parts = (rest + chunk).split("\n");
      rest = parts.pop()!;
      for (const line of parts) {
        take(JSON.parse(line));
        lines.push(line);
        heard++;
      }
      if (planned) return;
      planned = true;
      // What else arrived meanwhile shares the sync.
      setImmediate(write);
    });
    // A killed process resets its connection; that is what it is there for.
    socket.on("error", () => {});
    socket.on("close", () => {
      write();
      resolve();
    });
    socket.write(`${JSON.stringify(greeting())}\n`);
    socket.resume();
  });
}

const server = createServer({ pauseOnConnect: true }, (socket) => {
  lives = lives.then(() => hear(socket));
});
server.listen(join(folder, "ledger.sock"), () => process.send!("listening"));
process.on("message", async (asked) => {
  await lives;
  if (asked === "greet") {
    process.send!(greeting());
    return;
  }
  server.close();
  process.disconnect();
});
process.on("disconnect", () => process.exit(0));
