// Why a run that lost its worker again and again is left to a person, in words.
import type { ParkReason } from "../model/parked.ts";
import type { RunMemo } from "../store/leases.ts";

export function parkedForEntries({ run, steps }: RunMemo): ParkReason {
  const count = run.lost?.count ?? 0;
  const times = count === 1 ? "once" : `${count} times in a row`;
  const last = steps.at(-1)?.name;
  const where = last === undefined ? "" : ` after step "${last}"`;
  return {
    kind: "entries",
    reason: `its code was entered ${times}${where} without an outcome: it probably ends its process (out of memory, process.exit) or stops it for minutes`,
  };
}
