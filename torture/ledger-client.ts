// A process's line to the ledger. A record is handed to the kernel at once, so that it outlives the process, unless the ledger is so far
// behind that the kernel takes no more; `sure` waits until it is on disk.
import { connect } from "node:net";
import { join } from "node:path";
import type { Greeting, LedgerRecord } from "./records.ts";

export interface LedgerClient {
  readonly greeting: Greeting;
  tell(record: LedgerRecord): void;
  sure(record: LedgerRecord): Promise<void>;
}

export function connectLedger(folder: string, speaker = "ledger"): Promise<LedgerClient> {
  return new Promise((resolve, reject) => {
    const socket = connect(join(folder, `${speaker}.sock`));
    const waiting: { readonly upTo: number; readonly resolve: () => void }[] = [];
    let told = 0;
    let rest = "";
    let isGreeted = false;
    const tell = (record: LedgerRecord): void => {
      told++;
      socket.write(`${JSON.stringify(record)}\n`);
    };
    const sure = (record: LedgerRecord): Promise<void> => {
      tell(record);
      const upTo = told;
      return new Promise((done) => waiting.push({ upTo, resolve: done }));
    };
    const hear = (line: string): void => {
      if (!isGreeted) {
        isGreeted = true;
        resolve({ greeting: JSON.parse(line), tell, sure });
        return;
      }
      const heard = Number(line);
      while (waiting.length > 0 && waiting[0]!.upTo <= heard) waiting.shift()!.resolve();
    };
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop()!;
      for (const line of lines) hear(line);
    });
    socket.on("error", reject);
    // Without its ledger a life would prove nothing.
    socket.on("close", () => process.exit(3));
    process.on("exit", () => socket.destroy());
  });
}
