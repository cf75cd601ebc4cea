// The store as one process has it over PostgreSQL: every call is a transaction, alone or together with others of its kind. What goes
// together, how and for how long it is tried again, what counts as undone or unknown, and hints to others: that is the engine's own
// code (store/postgres/batches.ts, transactions.ts, faults.ts, tell-others.ts), over this server instead of a real one.
import type { Beats, BeatsOptions, EngineUnderTest, Platform, Store, StoreHint } from "../engine.ts";
import { never, type SimProcess } from "../platform.ts";
import { notRepeated, writeNames } from "../store-calls.ts";
import { simBeats } from "./beats.ts";
import { driverErrors } from "./driver-errors.ts";
import type { Settled } from "./session.ts";
import { type Call, type Transacting, transact } from "./transact.ts";

export interface PostgresLink extends Omit<Transacting, "apply" | "wayMs"> {
  readonly store: Store;
  readonly engine: Pick<EngineUnderTest, "Batches" | "Transactions" | "hintsOf" | "nextBeat">;
  readonly platform: Platform;
  readonly threadPlatform: (thread: SimProcess) => Platform;
  /** Told when a call took effect. */
  readonly onApplied: (name: string, input: readonly unknown[], answer: unknown) => void;
  readonly trace: (what: string) => void;
}

type CallBatches = { call(call: Call): Promise<Settled> };

const pollMs = 1_000;

export function postgresStore(link: PostgresLink): Store {
  const { process, server, store } = link;
  const asker = new Asker(link);
  const writes = Object.fromEntries(
    writeNames.map((name) => [name, (...input: unknown[]) => asker.ask({ name, input, isRead: false })]),
  );
  const reads = new Proxy(store.reads, {
    get:
      (_, name: string) =>
      (...input: unknown[]) =>
        asker.ask({ name, input, isRead: true }),
  });
  const subscribe = (listener: (hint: StoreHint) => void) => server.hints.subscribe(process, listener);
  const { outbox, transactional } = store;
  const thread = process.thread();
  const beating = new Asker({ ...link, process: thread, platform: link.threadPlatform(thread) });
  const loadMs = link.random.fork("heartbeat thread").between(50, 400);
  const beats = (options: BeatsOptions): Beats =>
    simBeats(
      {
        loop: link.loop,
        counters: link.counters,
        engine: link.engine,
        main: process,
        thread,
        monoMs: () => link.platform.monoMs(),
        loadMs,
        heartbeat: async (worker, { termMs, about }) => {
          const input = [worker, termMs, about];
          return (await beating.ask({ name: "heartbeat", input, isRead: false })) as { alive: boolean };
        },
      },
      options,
    );
  const shared = { pollMs, subscribe, stand: async () => {}, beats };
  return { ...writes, reads, shared, outbox, transactional, close: async () => {} } as unknown as Store;
}

class Asker {
  private readonly way: Transacting;
  private readonly transactions: InstanceType<EngineUnderTest["Transactions"]>;
  private readonly batches: ReadonlyMap<string, CallBatches>;

  constructor(private readonly link: PostgresLink) {
    const { random, counters, faults, engine, platform } = link;
    // Attempts are made here; it has no server of its own to make them on.
    this.transactions = new engine.Transactions({
      pool: null as never,
      connection: null as never,
      schema: "idem",
      platform,
      lockWaitMs: 0,
      where: "sim",
    });
    this.batches = new Map(
      ["ingest", "save", "end"].map((kind) => [
        kind,
        new engine.Batches<Call, Settled>(
          platform,
          (calls) => this.commit(calls),
          (call) => this.alone(call),
        ),
      ]),
    );
    this.way = {
      ...link,
      apply: (call) => this.apply(call),
      wayMs: () => {
        const { rates, delayMaxMs } = faults();
        if (!random.chance(rates.delay)) return random.between(0, 1);
        counters.add("fault delay");
        return random.between(0, delayMaxMs);
      },
    };
  }

  async ask(call: Call): Promise<unknown> {
    const { process, counters } = this.link;
    if (!process.alive) return never();
    try {
      const settled = await (this.batches.get(kindOf(call))?.call(call) ?? this.alone(call));
      if ("error" in settled) throw settled.error;
      this.tellOthers(call, settled.answer);
      return settled.answer;
    } catch (error) {
      counters.add("calls given up");
      throw error;
    }
  }

  private async alone(call: Call): Promise<Settled> {
    return (await this.commit([call]))[0]!;
  }

  /** One transaction, as often as it takes to know what came of it. */
  private commit(calls: readonly Call[]): Promise<readonly Settled[]> {
    const { counters } = this.link;
    const isRepeatable = !calls.some(({ name }) => notRepeated.has(name));
    if (calls.length > 1) counters.add("calls committed together", calls.length);
    let wasCommitted = false;
    const attempt = async () => {
      const session = transact(this.way, calls);
      try {
        const settled = await session.end;
        if (wasCommitted) counters.add("repeats of what was committed");
        return settled;
      } catch (error) {
        wasCommitted ||= session.isCommitted;
        this.note(session.commitSent, session.isCommitted, calls, error as Error);
        throw session.commitSent ? error : driverErrors.neverCommitted();
      }
    };
    return this.transactions.untilKnown(attempt, isRepeatable);
  }

  private tellOthers({ name, input, isRead }: Call, answer: unknown): void {
    const { engine, server, process } = this.link;
    if (isRead) return;
    const hints = engine.hintsOf(name as Parameters<typeof engine.hintsOf>[0], input, answer);
    for (const hint of hints) server.hints.tell(process, hint);
  }

  private note(isUnknown: boolean, isCommitted: boolean, calls: readonly Call[], { message }: Error): void {
    const { counters, trace } = this.link;
    const name = calls.map((call) => call.name).join();
    trace(`${name}: ${message}${isCommitted ? ", committed" : ""}`);
    if (calls[0]!.isRead || !isUnknown) return;
    counters.add(isCommitted ? "unknown commits that were made" : "unknown commits that were not");
  }

  private async apply({ name, input, isRead }: Call): Promise<Settled> {
    const { store, onApplied } = this.link;
    type Operations = Record<string, (...input: readonly unknown[]) => Promise<unknown>>;
    const target = (isRead ? store.reads : store) as unknown as Operations;
    try {
      const answer = await target[name]!(...input);
      onApplied(name, input, answer);
      return { answer };
    } catch (error) {
      return { error };
    }
  }
}

/** Calls of one kind go together; the empty word is for a call that goes alone. */
function kindOf({ name, input }: Call): string {
  if (name !== "advance") return name === "ingest" ? name : "";
  const { steps, next } = input[0] as { steps: readonly unknown[]; next: { kind: string } };
  if (next.kind === "end") return next.kind;
  return next.kind === "continue" && steps.length === 1 ? "save" : "";
}
