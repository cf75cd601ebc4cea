// The queue while another session holds a transaction open: nothing that was deleted since can be cleaned up, and a look for due
// work from the bottom walks over all of it. One process sends and one executes, so that every job goes through the queue.
import { once } from "node:events";
import { setTimeout as after } from "node:timers/promises";
import { said, startChild } from "./measured.ts";
import type { BenchServer } from "./server.ts";

/** The figures of a slice of time. */
export interface Slice {
  readonly when: "before" | "held" | "after";
  readonly jobsPerSecond: number;
  readonly leases: number;
  readonly emptyLeases: number;
  readonly leaseP50Ms: number;
  readonly leaseP99Ms: number;
  readonly jobsTableMb: number;
}

export interface Held {
  readonly sliceSeconds: number;
  readonly inLine: number;
  readonly slices: readonly Slice[];
  /** The last slice under the held transaction beside the last one before it. */
  readonly leftOfThroughput: number;
  readonly leaseTimes: number;
}

export type QueueAsked =
  | { readonly kind: "send"; readonly count: number }
  | { readonly kind: "slice" }
  | { readonly kind: "stop" };

export type QueueSaid =
  | { readonly kind: "ready" }
  | { readonly kind: "begun"; readonly count: number }
  | {
      readonly kind: "slice";
      readonly jobs: number;
      readonly leases: number;
      readonly emptyLeases: number;
      readonly leaseP50Ms: number;
      readonly leaseP99Ms: number;
    };

export interface HeldOptions {
  readonly database: string;
  readonly warmUpMs: number;
  readonly sliceMs: number;
  readonly before: number;
  readonly held: number;
  readonly after: number;
}

// More than a worker leases at once, few enough that the line itself is no bloat.
const inLine = 400;

export async function measureHeld(server: BenchServer, options: HeldOptions): Promise<Held> {
  const { database, sliceMs } = options;
  const url = server.urlOf(database);
  const worker = startChild("postgres/queue-worker.js", [url]);
  await said<QueueSaid, "ready">(worker, "ready");
  const sender = startChild("postgres/queue-sender.js", [url]);
  await said<QueueSaid, "ready">(sender, "ready");
  const ask = (child: typeof worker, asked: QueueAsked) => child.send(asked);
  worker.on("message", (message: QueueSaid) => {
    if (message.kind === "begun" && sender.connected) ask(sender, { kind: "send", count: message.count });
  });
  ask(sender, { kind: "send", count: inLine });

  const slices = await server.inside(database, async (holder) => {
    const slice = async (when: Slice["when"]): Promise<Slice> => {
      await after(sliceMs);
      const answer = said<QueueSaid, "slice">(worker, "slice");
      ask(worker, { kind: "slice" });
      const { jobs, leases, emptyLeases, leaseP50Ms, leaseP99Ms } = await answer;
      const jobsTableMb = await sizeOfJobs(holder);
      return {
        when,
        jobsPerSecond: (jobs / sliceMs) * 1_000,
        leases,
        emptyLeases,
        leaseP50Ms,
        leaseP99Ms,
        jobsTableMb,
      };
    };
    const some = async (when: Slice["when"], count: number): Promise<Slice[]> => {
      const taken: Slice[] = [];
      for (let i = 0; i < count; i++) taken.push(await slice(when));
      return taken;
    };
    await after(options.warmUpMs);
    const answer = said<QueueSaid, "slice">(worker, "slice");
    ask(worker, { kind: "slice" });
    await answer;
    const before = await some("before", options.before);
    // An own snapshot and an own transaction id: what the least careful of users does.
    await holder.query("begin isolation level repeatable read");
    await holder.query("select pg_current_xact_id()");
    const held = await some("held", options.held);
    await holder.query("commit");
    return [...before, ...held, ...(await some("after", options.after))];
  });
  for (const child of [sender, worker]) {
    const gone = once(child, "exit");
    ask(child, { kind: "stop" });
    await gone;
  }
  const last = (when: Slice["when"]) => slices.filter((slice) => slice.when === when).at(-1)!;
  return {
    sliceSeconds: sliceMs / 1_000,
    inLine,
    slices,
    leftOfThroughput: last("held").jobsPerSecond / last("before").jobsPerSecond,
    leaseTimes: last("held").leaseP50Ms / last("before").leaseP50Ms,
  };
}

async function sizeOfJobs(client: { query(sql: string): Promise<{ rows: { mb: number }[] }> }): Promise<number> {
  const { rows } = await client.query("select pg_total_relation_size('idem.jobs') / 1048576.0::float8 as mb");
  return rows[0]!.mb;
}
