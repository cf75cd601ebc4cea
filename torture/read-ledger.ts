// The ledger's lines as facts to compare with. Order is everything: `order` counts lines.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Holds, type Takeover, type Teller } from "./holds.ts";
import type { AckedDecision, LedgerRecord } from "./records.ts";

export interface Acked {
  readonly call: number;
  readonly index: number;
  readonly eventId: string;
  readonly hash: string;
  readonly decisions: readonly AckedDecision[];
}

export interface Entry {
  readonly order: number;
  readonly attempt: number;
  readonly key: string;
  readonly speaker: string;
}

export interface StepFacts {
  readonly entries: Entry[];
  /** When its value was first given to the code; null when it never was. */
  returnedAt: number | null;
  readonly hashes: Set<string>;
}

export interface Sleep {
  readonly ms: number;
  readonly askedAt: number;
  wokeAt: number | null;
}

export interface Cancel {
  readonly order: number;
  readonly run: string;
  readonly won: boolean;
  readonly speaker: string;
}

export interface LedgerFacts {
  readonly recordCount: number;
  readonly acked: readonly Acked[];
  readonly ackedOthers: readonly { readonly eventId: string; readonly hash: string }[];
  readonly tried: ReadonlySet<number>;
  readonly answered: ReadonlySet<number>;
  /** By "run step". */
  readonly steps: ReadonlyMap<string, StepFacts>;
  readonly entriesOfRun: ReadonlyMap<string, readonly Entry[]>;
  /** Steps that a process was about to enter at the very instant it was frozen: nobody could have told it that it was too late. */
  readonly enteredLate: readonly string[];
  readonly sleeps: ReadonlyMap<string, Sleep>;
  readonly ends: ReadonlyMap<string, { readonly state: string; readonly hash: string }[]>;
  readonly cancels: readonly Cancel[];
  /** The most that were in each lane of a limit at once, and in all of them. */
  readonly lanes: { readonly most: ReadonlyMap<string, number>; readonly mostInAll: number };
  readonly takeovers: readonly Takeover[];
  /** For each life that got so far: from its first instruction to its first progress. */
  readonly recoveryMs: readonly number[];
}

export function readLedger(folder: string): LedgerFacts {
  const lines = readFileSync(join(folder, "ledger.jsonl"), "utf8").split("\n").slice(0, -1);
  const records = lines.map((line): LedgerRecord => JSON.parse(line));
  const acked: Acked[] = [];
  const ackedOthers: { eventId: string; hash: string }[] = [];
  const tried = new Set<number>();
  const answered = new Set<number>();
  const steps = new Map<string, StepFacts>();
  const entriesOfRun = new Map<string, Entry[]>();
  const enteredLate: string[] = [];
  /** Entries reported as late: the last one of that speaker before it says so. It may enter the step again, in time. */
  const late = lateEntries(records);
  const sleeps = new Map<string, Sleep>();
  const ends = new Map<string, { state: string; hash: string }[]>();
  const cancels: Cancel[] = [];
  const holds = new Holds();
  const lives = new Map<string, number>();
  let speaker = "";
  const recoveryMs: number[] = [];
  let bornAt: number | null = null;

  const stepOf = (run: string, step: string): StepFacts => {
    const name = `${run} ${step}`;
    const facts = steps.get(name) ?? { entries: [], returnedAt: null, hashes: new Set() };
    steps.set(name, facts);
    return facts;
  };
  const progress = (at: number) => {
    if (bornAt !== null) recoveryMs.push(at - bornAt);
    bornAt = null;
  };
  const teller = (): Teller => ({ speaker, life: lives.get(speaker) ?? 0 });
  const take = (record: LedgerRecord, order: number): void => {
    switch (record[0]) {
      case "from":
        speaker = record[1];
        return;
      case "life":
        bornAt = record[2];
        lives.set(speaker, record[1]);
        return;
      case "try":
        tried.add(record[1]);
        return;
      case "ack": {
        const [, at, call, ids, hashes, decisions] = record;
        answered.add(call);
        progress(at);
        ids.forEach((eventId, index) => {
          const own = decisions.filter(([id]) => id === eventId);
          acked.push({ call, index, eventId, hash: hashes[index]!, decisions: own });
        });
        return;
      }
      case "ack-other":
        ackedOthers.push({ eventId: record[2], hash: record[3] });
        return;
      case "enter": {
        const [, at, run, step, attempt, key, work] = record;
        progress(at);
        const entry = { order, attempt, key, speaker };
        if (late.has(order)) {
          enteredLate.push(`${run} ${step}`);
          return;
        }
        holds.seen(run, at, teller());
        if (work !== undefined) holds.hold(run, work.lane, teller());
        stepOf(run, step).entries.push(entry);
        entriesOfRun.set(run, [...(entriesOfRun.get(run) ?? []), entry]);
        return;
      }
      case "value": {
        const [, at, run, step, hash] = record;
        progress(at);
        holds.seen(run, at, teller());
        const facts = stepOf(run, step);
        facts.returnedAt ??= order;
        facts.hashes.add(hash);
        return;
      }
      case "asked-sleep": {
        const [, askedAt, run, ms] = record;
        if (!sleeps.has(run)) sleeps.set(run, { ms, askedAt, wokeAt: null });
        return;
      }
      case "woke":
        sleeps.get(record[2])!.wokeAt ??= record[1];
        return;
      case "end": {
        const [, run, state, hash] = record;
        ends.set(run, [...(ends.get(run) ?? []), { state, hash }]);
        return;
      }
      case "cancel":
        cancels.push({ order, run: record[1], won: record[2], speaker });
        return;
      case "left":
        holds.left(record[2], teller());
        return;
      case "fault": {
        const [, at, kind, node, isCalm] = record;
        if (node !== null && (kind === "kill" || kind === "freeze")) holds.stopped(node, at, isCalm);
      }
    }
  };

  records.forEach(take);
  return {
    recordCount: lines.length,
    acked,
    ackedOthers,
    tried,
    answered,
    steps,
    entriesOfRun,
    enteredLate,
    sleeps,
    ends,
    cancels,
    lanes: holds,
    takeovers: holds.takeovers,
    recoveryMs,
  };
}

/** By their place in the ledger. */
function lateEntries(records: readonly LedgerRecord[]): Set<number> {
  const late = new Set<number>();
  const entered = new Map<string, number>();
  let speaker = "";
  records.forEach((record, order) => {
    if (record[0] === "from") speaker = record[1];
    else if (record[0] === "enter") entered.set(`${speaker} ${record[2]} ${record[3]}`, order);
    else if (record[0] === "late") late.add(entered.get(`${speaker} ${record[1]} ${record[2]}`) ?? -1);
  });
  return late;
}
