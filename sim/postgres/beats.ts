// The thread of a node that extends its leases, played: it takes a while to load, has a session of its own, continues while the node's loop is
// blocked, and is frozen with the whole process. When it beats and when it stops is the engine's own rule (model/beats.ts).
import type { Counters } from "../counters.ts";
import type { Beat, Beats, BeatsOptions, EngineUnderTest } from "../engine.ts";
import type { EventLoop, Owner } from "../event-loop.ts";

export interface BeatsLink {
  readonly loop: EventLoop;
  readonly counters: Counters;
  readonly engine: Pick<EngineUnderTest, "nextBeat">;
  readonly main: Owner;
  readonly thread: Owner;
  readonly monoMs: () => number;
  /** How long the thread takes to load its code. Leases can be posted to it from the beginning. */
  readonly loadMs: number;
  /** By the thread's own session. */
  readonly heartbeat: (worker: string, options: BeatsOptions) => Promise<{ readonly alive: boolean }>;
}

const liveEveryMs = 500;

export function simBeats(link: BeatsLink, options: BeatsOptions): Beats {
  const { loop, counters, engine, main, thread, monoMs, loadMs, heartbeat } = link;
  const { termMs, blockedMaxMs } = options;
  const held = new Map<string, Beat>();
  const asking = new Set<string>();
  let livedAt = monoMs();
  let isOver = false;
  const again = (ms: number, run: () => void, owner: Owner) => {
    if (isOver) return;
    loop.schedule(
      ms,
      () => {
        if (!isOver) run();
        again(ms, run, owner);
      },
      owner,
    );
  };
  const beat = async (worker: string) => {
    const askedMono = monoMs();
    const { alive } = await heartbeat(worker, options);
    const before = held.get(worker);
    if (before === undefined) return;
    const isLate =
      engine.nextBeat({ now: monoMs(), heardAt: before.askedMono, livedAt, termMs, blockedMaxMs }) === "lapsed";
    held.set(worker, alive && !isLate ? { askedMono, state: "held" } : { ...before, state: alive ? "lapsed" : "dead" });
  };
  const look = () => {
    for (const [worker, last] of held) {
      if (last.state !== "held" || asking.has(worker)) continue;
      const now = monoMs();
      const step = engine.nextBeat({ now, heardAt: last.askedMono, livedAt, termMs, blockedMaxMs });
      if (step === "lapsed") held.set(worker, { ...last, state: "lapsed" });
      if (step !== "beat" || now - last.askedMono < termMs / 4) continue;
      asking.add(worker);
      beat(worker)
        .catch(() => {})
        .finally(() => asking.delete(worker));
    }
  };
  again(
    liveEveryMs,
    () => {
      livedAt = monoMs();
    },
    main,
  );
  // The main thread has no part in it: its loop may be blocked since before the thread began.
  loop.schedule(
    loadMs,
    () => {
      if (main.frozenUntil > loop.now) counters.add("heartbeat threads that began under a blocked loop");
      again(termMs / 20, look, thread);
    },
    thread,
  );
  return {
    hold: (worker, askedMono) => {
      const known = held.get(worker);
      if (known === undefined || (known.state === "held" && known.askedMono < askedMono))
        held.set(worker, { askedMono, state: "held" });
    },
    drop: (worker) => void held.delete(worker),
    last: (worker) => held.get(worker) ?? null,
    close: async () => {
      isOver = true;
    },
  };
}
