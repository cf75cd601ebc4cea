// The locking tool as the torturer holds it.
import { fork } from "node:child_process";
import { program } from "./engine.ts";
import type { LockerCounts, LockerInput } from "./locker.ts";

export interface LockerProcess {
  /** Lets go of the file and says what it did. */
  end(): Promise<LockerCounts>;
}

export function startLocker(input: LockerInput): LockerProcess {
  const child = fork(program("locker"), [JSON.stringify(input)], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const counts = new Promise<LockerCounts>((resolve, reject) => {
    child.once("message", (told) => {
      resolve(told as LockerCounts);
      child.disconnect();
    });
    child.once("exit", (code) => reject(new Error(`The locking tool ended with ${code}`)));
  });
  // Heard when it is asked for; a tool that ends before is found out then.
  counts.catch(() => {});
  return {
    end: () => {
      if (child.connected) child.send("end");
      return counts;
    },
  };
}
