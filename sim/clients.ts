// People and programs that use the nodes from outside: they send, send again when they do not know, wait, cancel and rerun.
// They never crash, and they keep their own ids.
import type { Idem } from "./engine.ts";
import type { Random } from "./random.ts";
import type { Message } from "./workloads/workload.ts";
import type { World } from "./world.ts";

type Answer<T> =
  | { readonly kind: "answer"; readonly value: T; readonly process: string }
  /** `isRefused`: the node that was asked said that nothing was stored. */
  | { readonly kind: "unknown"; readonly isRefused?: boolean };

const patienceMs = 10_000;

export class Clients {
  /** Conversations not over yet. */
  open = 0;
  /** The last time one of them asked for runs: sent events, or a rerun. */
  askedAt = 0;
  private calls = 0;
  /** Functions about to be paused, or paused. */
  private readonly pausing = new Set<string>();

  constructor(
    private readonly world: World,
    private readonly random: Random,
  ) {}

  /** One conversation: everything a client does about one call's messages. */
  async converse(messages: readonly Message[], again: number): Promise<void> {
    this.open++;
    try {
      const started = await this.sendUntilKnown(messages);
      for (let i = 0; i < again; i++) {
        // A webhook that is delivered again, a button that is clicked again.
        await this.world.loop.sleep(this.random.between(0, 15_000));
        await this.sendUntilKnown(messages);
      }
      for (const runId of started) await this.follow(runId);
    } finally {
      this.open--;
    }
  }

  /** Sends and leaves it at that. */
  async send(messages: readonly Message[]): Promise<void> {
    this.open++;
    await this.sendUntilKnown(messages);
    this.open--;
  }

  /** A function is paused for a while, goes on, and what waited is kept, released or dropped. */
  async pause(fn: string, lastsMs: number): Promise<void> {
    const { world, random } = this;
    this.open++;
    this.pausing.add(fn);
    await this.askUntilKnown((idem) => idem.functions.pause(fn));
    const pause = { fn, from: world.clock.now(), to: null as number | null };
    world.ledger.pauses.push(pause);
    world.counters.add("pauses");
    await world.loop.sleep(lastsMs);
    pause.to = world.clock.said();
    const waiting = random.pick(["keep", "release", "drop"] as const);
    await this.askUntilKnown((idem) => idem.functions.resume(fn, { waiting }));
    this.pausing.delete(fn);
    this.open--;
  }

  /** Whatever still waits for a person is released, for as long as the world lasts. */
  async release(fn: string): Promise<never> {
    const { world } = this;
    while (this.pausing.has(fn)) await world.loop.sleep(1_000);
    // A process that stood still may only now do what it was asked before.
    await world.loop.sleep(5_000);
    for (;;) {
      await this.ask((idem) => idem.functions.resume(fn, { waiting: "release" }));
      for (const eventId of await world.heldFor(fn)) {
        await this.ask((idem) => idem.events.release(eventId, { function: fn }));
      }
      await world.loop.sleep(4_000);
    }
  }

  private async askUntilKnown(question: (idem: Idem) => Promise<unknown>): Promise<void> {
    while ((await this.ask(question)).kind === "unknown") {
      await this.world.loop.sleep(this.random.between(100, 3_000));
    }
  }

  private async sendUntilKnown(messages: readonly Message[]): Promise<readonly string[]> {
    const { world } = this;
    for (;;) {
      const call = ++this.calls;
      const events = messages.map(({ name, id, data, ts }) => ({
        name,
        ...(id === null ? {} : { id }),
        ...(ts === undefined ? {} : { ts }),
        data: { ...data, call, of: messages.length },
      }));
      const send = {
        call,
        at: world.loop.now,
        events: events.map((event) => ({
          id: event.id ?? null,
          name: event.name,
          data: JSON.stringify(event.data),
        })),
        acknowledged: null as (typeof world.ledger.sends)[number]["acknowledged"],
        isRefused: false,
      };
      world.ledger.sends.push(send);
      this.askedAt = world.loop.now;
      const sent = await this.ask((idem) => idem.send(events));
      if (sent.kind === "answer") {
        const { ids, decisions } = sent.value;
        send.acknowledged = {
          at: world.loop.now,
          ids,
          decisions: decisions.map(({ eventId, function: fn, kind, runId }) => ({
            eventId,
            function: fn,
            kind,
            runId,
          })),
        };
        return decisions.flatMap(({ kind, runId }) => (kind === "started" && runId !== null ? [runId] : []));
      }
      send.isRefused = sent.isRefused === true;
      world.counters.add(send.isRefused ? "sends that were refused" : "sends of unknown outcome");
      await world.loop.sleep(this.random.between(100, 3_000));
    }
  }

  private async follow(runId: string): Promise<void> {
    const { random, world } = this;
    const mood = random.next();
    if (mood < 0.15) {
      await world.loop.sleep(random.between(0, 4_000));
      world.ledger.cancelsAsked.add(runId);
      const cancelled = await this.ask((idem) => idem.runs.cancel(runId));
      if (cancelled.kind === "answer") {
        const { value, process } = cancelled;
        world.ledger.cancels.push({ at: world.loop.now, run: runId, process, won: value.cancelled });
        if (value.cancelled) world.counters.add("cancels");
      }
    } else if (mood < 0.3) {
      await world.loop.sleep(random.between(0, 20_000));
      this.askedAt = world.loop.now;
      const rerun = await this.ask((idem) => idem.runs.rerun(runId));
      if (rerun.kind === "answer") {
        world.ledger.reruns.push({ of: runId, run: rerun.value.runId });
        world.counters.add("reruns");
      }
    }
    if (random.chance(0.5)) return;
    const end = await this.ask((idem) => idem.runs.wait(runId));
    if (end.kind === "answer") {
      const { state, output } = end.value;
      world.ledger.ends.push({ at: world.loop.now, run: runId, state, output: JSON.stringify(output) });
    }
  }

  /** Asks any process that is up. A process that dies or stays silent leaves the asker not knowing. */
  private async ask<T>(question: (idem: Idem) => Promise<T>): Promise<Answer<T>> {
    const { world, random } = this;
    const up = world.nodes.filter((node) => node.isUp);
    if (up.length === 0) {
      await world.loop.sleep(500);
      return { kind: "unknown" };
    }
    const { process, idem } = random.pick(up).life!;
    return new Promise((resolve) => {
      const timeout = world.loop.schedule(patienceMs, () => resolve({ kind: "unknown" }));
      const settle = (answer: Answer<T>) => {
        if (!process.alive) return;
        timeout.cancel();
        resolve(answer);
      };
      question(idem).then(
        (value) => settle({ kind: "answer", value, process: process.name }),
        (error: unknown) => {
          world.trace.add(world.loop.now, process.name, `answers a client with ${String(error)}`);
          const { code } = error as { code?: unknown };
          settle({ kind: "unknown", isRefused: code === "STORE_LOCKED" || code === "STORE_FULL" });
        },
      );
    });
  }
}
