// What is left when everything is over: the lines the workers wrote, and the store as its own reads show it.
import { join } from "node:path";
import { Idem, type PublicDecision, type PublicEvent, type PublicRun, type RunsApi } from "idem";
import { linesOf } from "./worker-life.ts";

export interface Effect {
  readonly what: "enter" | "leave" | "resolved" | "stall";
  readonly run: string;
  readonly step: string;
  readonly order: number;
  readonly life: number;
}

interface Acknowledgement {
  readonly order: number;
  readonly eventId: string;
  readonly kind: string;
  readonly runId: string;
}

type StoredRun = NonNullable<Awaited<ReturnType<RunsApi["get"]>>>;
type StoredEvent = PublicEvent & { readonly decisions: readonly PublicDecision[] };

export interface Evidence {
  readonly effects: readonly Effect[];
  /** Numbers of all deliveries that were about to be sent. */
  readonly intents: ReadonlySet<number>;
  readonly acknowledged: ReadonlyMap<number, Acknowledgement>;
  readonly runs: readonly StoredRun[];
  readonly events: readonly StoredEvent[];
}

export async function gatherEvidence(folder: string): Promise<Evidence> {
  const effects = linesOf(join(folder, "effects.txt")).map((line) => {
    const [what, run, step, order, life] = line.split(" ");
    return { what, run, step, order: Number(order), life: Number(life) } as Effect;
  });
  const sends = linesOf(join(folder, "sends.txt")).map((line) => line.split(" "));
  const intents = new Set(sends.filter(([what]) => what === "intent").map(([, n]) => Number(n)));
  const acknowledged = new Map<number, Acknowledgement>();
  for (const [what, n, order, eventId, kind, runId] of sends) {
    if (what !== "ack") continue;
    acknowledged.set(Number(n), { order: Number(order), eventId: eventId!, kind: kind!, runId: runId! });
  }

  const idem = new Idem({ id: "shop", store: `sqlite:${join(folder, "idem.db")}` });
  try {
    const listed = await everyPage<PublicRun>(
      (page) => idem.runs.list(page),
      (run) => run.id,
    );
    const stored = await everyPage<PublicEvent>(
      (page) => idem.events.list(page),
      (event) => event.internalId,
    );
    const runs = await Promise.all(listed.map(async ({ id }) => (await idem.runs.get(id))!));
    const events = await Promise.all(stored.map(async ({ internalId }) => (await idem.events.get(internalId))!));
    return { effects, intents, acknowledged, runs, events };
  } finally {
    await idem.stop();
  }
}

async function everyPage<T>(
  list: (page: { limit: number; before?: string }) => Promise<readonly T[]>,
  idOf: (item: T) => string,
): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const last = all.at(-1);
    const page = await list({ limit: 1_000, ...(last === undefined ? {} : { before: idOf(last) }) });
    if (page.length === 0) return all;
    all.push(...page);
  }
}
