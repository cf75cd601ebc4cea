// The ledger: a process that is never killed. It writes down what the processes under test tell it, syncs, and only then
// says so. It knows nothing of the engine.
//
// Each process under test is a speaker, with a socket of its own. Of one speaker, one life is heard to its end before the next one is: what a
// killed process wrote last still stands in its socket.
import { fdatasyncSync, openSync, writeSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Greeting, LedgerRecord } from "./records.ts";

/** The torturer's questions to it. */
export type Asked =
  | "greet"
  | "close"
  /** To be written down; `after` is a speaker whose last life must have been heard to its end first. */
  | { readonly note: LedgerRecord; readonly after: string | null };

const [folder, ...speakers] = process.argv.slice(2) as [string, ...string[]];
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

// ------------------------------------------------------------------------------------------------ writing

let lines: string[] = [];
let lastSpeaker = "";
let onWritten: (() => void)[] = [];

function plan(from: string, told: readonly string[], written: () => void): void {
  if (onWritten.length === 0) setImmediate(write);
  onWritten.push(written);
  if (told.length > 0 && from !== lastSpeaker && speakers.length > 1) {
    lastSpeaker = from;
    lines.push(JSON.stringify(["from", from] satisfies LedgerRecord));
  }
  lines.push(...told);
}

/** Lines that arrived meanwhile share the sync. */
function write(): void {
  const done = onWritten;
  onWritten = [];
  if (lines.length > 0) {
    const batch = `${lines.join("\n")}\n`;
    lines = [];
    writeSync(file, batch);
    fdatasyncSync(file);
  }
  for (const written of done) written();
}

// ------------------------------------------------------------------------------------------------ hearing

const lives = new Map<string, Promise<void>>();

function hear(speaker: string, socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    let rest = "";
    let heard = 0;
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      const told = (rest + chunk).split("\n");
      rest = told.pop()!;
      for (const line of told) take(JSON.parse(line));
      heard += told.length;
      const upTo = heard;
      plan(speaker, told, () => {
        if (socket.writable) socket.write(`${upTo}\n`);
      });
    });
    // A killed process resets its connection; that is what it is there for.
    socket.on("error", () => {});
    socket.on("close", () => plan(speaker, [], resolve));
    socket.write(`${JSON.stringify(greeting())}\n`);
    socket.resume();
  });
}

const servers = speakers.map((speaker) => {
  lives.set(speaker, Promise.resolve());
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    lives.set(
      speaker,
      lives.get(speaker)!.then(() => hear(speaker, socket)),
    );
  });
  return new Promise<typeof server>((resolve) => {
    server.listen(join(folder, `${speaker}.sock`), () => resolve(server));
  });
});

// Records sent before stand in their senders' sockets: they are read by then.
const settleMs = 20;

async function answer(asked: Asked): Promise<void> {
  if (typeof asked === "object") {
    await (asked.after === null ? delay(settleMs) : lives.get(asked.after));
    await new Promise<void>((resolve) => plan("", [JSON.stringify(asked.note)], resolve));
    process.send!("noted");
    return;
  }
  await Promise.all(lives.values());
  if (asked === "greet") {
    process.send!(greeting());
    return;
  }
  for (const server of await Promise.all(servers)) server.close();
  process.disconnect();
}

// One after the other: each answer is for the question before it.
let answering: Promise<void> = Promise.resolve();
process.on("message", (asked: Asked) => {
  answering = answering.then(() => answer(asked));
});
process.on("disconnect", () => process.exit(0));
void Promise.all(servers).then(() => process.send!("listening"));
