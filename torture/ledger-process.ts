// The ledger as the torturer holds it.
import { fork } from "node:child_process";
import { program } from "./engine.ts";
import type { Asked } from "./ledger.ts";
import type { LedgerRecord } from "./records.ts";

export interface LedgerProcess {
  greet(): Promise<{ readonly ackedCount: number }>;
  /** Resolves once it is on disk; `after` is a speaker whose last life must have been heard to its end first. */
  note(record: LedgerRecord, after?: string): Promise<void>;
  close(): Promise<void>;
}

/** A speaker is a process under test; it has a socket in the folder. */
export async function startLedger(folder: string, speakers: readonly string[]): Promise<LedgerProcess> {
  const child = fork(program("ledger"), [folder, ...speakers], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const waiting: ((answer: any) => void)[] = [];
  child.on("message", (answer) => waiting.shift()?.(answer));
  const next = () => new Promise<any>((resolve) => waiting.push(resolve));
  const ask = (asked: Asked) => {
    child.send(asked);
    return next();
  };
  await next();
  return {
    greet: () => ask("greet"),
    note: (note, after) => ask({ note, after: after ?? null }),
    close: async () => {
      if (child.connected) child.send("close" satisfies Asked);
      const code = await ended;
      if (code !== 0) throw new Error(`The ledger ended with ${code}: its evidence is not complete`);
    },
  };
}
