// The store as one process has it over PostgreSQL: every call is a transaction, alone or together with others of its kind. How it is
// tried again, for how long, what is taken for undone, what for unknown, and what others are told: that is the engine's own
// code (store/postgres/transactions.ts, faults.ts, tell-others.ts), over this server instead of a real one.
import type { EngineUnderTest, Platform, Store, StoreHint } from "../engine.ts";
import { never } from "../platform.ts";
import { notRepeated, writeNames } from "../store-calls.ts";
import type { Settled } from "./session.ts";
import { type Call, type Transacting, transact } from "./transact.ts";

export interface PostgresLink extends Omit<Transacting, "apply" | "wayMs"> {
  readonly store: Store;
  readonly engine: Pick<EngineUnderTest, "Transactions" | "hintsOf">;
  readonly platform: Platform;
  /** Whether calls of one kind that come together are committed together. */
  readonly isBatched: boolean;
  /** Told when a call took effect. */
  readonly onApplied: (name: string, input: readonly unknown[], answer: unknown) => void;
  readonly trace: (what: string) => void;
}

interface Asked extends Call {
  readonly settle: (settled: Settled) => void;
}

const pollMs = 1_000;
const batchedNames: ReadonlySet<string> = new Set(["ingest", "advance"]);
const batchMax = 50;
const gatherMs = 2;

export function postgresStore(link: PostgresLink): Store {
  const { process, server } = link;
  const asker = new Asker(link);
  const writes = Object.fromEntries(
    writeNames.map((name) => [name, (...input: unknown[]) => asker.ask(name, input, false)]),
  );
  const reads = new Proxy(link.store.reads, {
    get:
      (_, name: string) =>
      (...input: unknown[]) =>
        asker.ask(name, input, true),
  });
  const subscribe = (listener: (hint: StoreHint) => void) => server.hints.subscribe(process, listener);
  // Transactions of users are no part of the simulation.
  const absent = { outbox: null, transactional: null };
  return { ...writes, reads, shared: { pollMs, subscribe }, ...absent, close: async () => {} } as unknown as Store;
}

class Asker {
  private readonly way: Transacting;
  private readonly transactions: InstanceType<EngineUnderTest["Transactions"]>;
  /** Calls that wait a moment for others of their kind. */
  private readonly gathering = new Map<string, Asked[]>();

  constructor(private readonly link: PostgresLink) {
    const { random, counters, faults, engine, platform } = link;
    // Attempts are made here; it has no server of its own to make them on.
    this.transactions = new engine.Transactions(null as never, null as never, "idem", platform, null);
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

  ask(name: string, input: readonly unknown[], isRead: boolean): Promise<unknown> {
    const { process, isBatched } = this.link;
    if (!process.alive) return never();
    return new Promise((resolve, reject) => {
      const settle = (settled: Settled) => ("error" in settled ? reject(settled.error) : resolve(settled.answer));
      const asked = { name, input, isRead, settle };
      if (isBatched && batchedNames.has(name)) this.gather(asked);
      else void this.commit([asked]);
    });
  }

  private gather(asked: Asked): void {
    const { loop, process, random } = this.link;
    const others = this.gathering.get(asked.name);
    if (others !== undefined && others.length < batchMax) {
      others.push(asked);
      return;
    }
    const batch = [asked];
    this.gathering.set(asked.name, batch);
    const leave = () => {
      if (this.gathering.get(asked.name) === batch) this.gathering.delete(asked.name);
      void this.commit(batch);
    };
    loop.schedule(random.between(0, gatherMs), leave, process);
  }

  private async commit(batch: readonly Asked[]): Promise<void> {
    const { counters } = this.link;
    const isRepeatable = !batch.some(({ name }) => notRepeated.has(name));
    let wasCommitted = false;
    const attempt = async () => {
      const session = transact(this.way, batch);
      try {
        const settled = await session.end;
        if (wasCommitted) counters.add("repeats of what was committed");
        return settled;
      } catch (error) {
        wasCommitted ||= session.isCommitted;
        this.note(session.commitSent, session.isCommitted, batch, error as Error);
        throw error;
      }
    };
    try {
      const settled = await this.transactions.untilKnown(attempt, isRepeatable);
      for (const [i, asked] of batch.entries()) {
        this.tellOthers(asked, settled[i]!);
        asked.settle(settled[i]!);
      }
    } catch (error) {
      counters.add("calls given up", batch.length);
      for (const { settle } of batch) settle({ error });
    }
  }

  private tellOthers({ name, input, isRead }: Call, settled: Settled): void {
    const { engine, server, process } = this.link;
    if (isRead || "error" in settled) return;
    const hints = engine.hintsOf(name as Parameters<typeof engine.hintsOf>[0], input, settled.answer);
    for (const hint of hints) server.hints.tell(process, hint);
  }

  private note(isUnknown: boolean, isCommitted: boolean, batch: readonly Asked[], { message }: Error): void {
    const { counters, trace } = this.link;
    const name = batch.map((asked) => asked.name).join();
    trace(`${name}: ${message}${isCommitted ? ", committed" : ""}`);
    if (batch[0]!.isRead || !isUnknown) return;
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
