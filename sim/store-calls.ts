// The effect of a store's call, read from its input and its answer.
import type { StoreWrites } from "./engine.ts";

// A record, so that the compiler misses an operation that is new: what is not carried here fails in every world, and unseen where the engine
// tries again.
const carried: Record<keyof StoreWrites, true> = {
  register: true,
  pause: true,
  ingest: true,
  redecide: true,
  tick: true,
  lease: true,
  advance: true,
  resume: true,
  signal: true,
  cancel: true,
  rerun: true,
  unpark: true,
  annotate: true,
  publish: true,
  claim: true,
  extend: true,
  amend: true,
  settle: true,
  release: true,
  heartbeat: true,
  handBack: true,
  sweep: true,
  prune: true,
  set: true,
  raise: true,
  judge: true,
  follow: true,
  audit: true,
  count: true,
};

/** The calls that change something. */
export const writeNames = Object.keys(carried) as readonly (keyof StoreWrites)[];

/** Leasing is the one call whose repeat does something new (store.ts says so), so nobody on the way may repeat it. */
export const notRepeated: ReadonlySet<string> = new Set(["lease"]);

/** The events a call stored, by itself or together with a change to a run. */
export function storedBy(answer: unknown): readonly { readonly id: string }[] {
  type Ingesting = { kind?: string; events?: readonly { id: string }[]; ingested?: Ingesting | null };
  const given = (answer ?? {}) as Ingesting;
  const ingested = given.kind === "ingested" || given.kind === "ticked" ? given : given.ingested;
  return ingested?.events ?? [];
}

/** A call as one line of the trace. */
export function describeCall(name: string, input: readonly unknown[], answer: unknown): string {
  const { kind = "" } = (answer ?? {}) as { kind?: string };
  if (name === "lease") {
    const { jobs } = answer as { jobs: readonly { jobId: string }[] };
    return jobs.length === 0
      ? name
      : `lease to ${(input[0] as { worker: string }).worker}: ${jobs.map(({ jobId }) => jobId)}`;
  }
  if (name === "handBack" || name === "heartbeat") return `${name} ${input[0]} ${JSON.stringify(answer)}`;
  if (name === "sweep") return `${name} ${JSON.stringify(answer)}`;
  if (name === "cancel") return `${name} ${(input[0] as { runId: string }).runId} ${kind}`;
  if (name === "ingest" || name === "tick" || name === "redecide") return `${name} ${kind}${leasedBy(answer)}`;
  if (name !== "advance") return `${name} ${kind}`;
  const { runId, steps, waits, next } = input[0] as {
    runId: string;
    steps: readonly { name: string }[];
    waits: readonly { name: string }[];
    next: { kind: string };
  };
  const { news = [] } = answer as { news?: readonly { name: string }[] };
  const names = (list: readonly { name: string }[]) => list.map((item) => item.name).join(",");
  return `advance ${runId} ${kind} ${next.kind} steps [${names(steps)}] waits [${names(waits)}] news [${names(news)}]`;
}

function leasedBy(answer: unknown): string {
  const { leased = [] } = answer as { leased?: readonly { jobId: string }[] };
  return leased.length === 0 ? "" : ` leased ${leased.map(({ jobId }) => jobId)}`;
}
