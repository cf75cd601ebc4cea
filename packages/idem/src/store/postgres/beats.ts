// A node's leases, extended by a thread with a session of its own: a step that keeps the event loop busy costs its node nothing.
import { errors } from "../../model/errors.ts";
import { steadyMs } from "../../platform/node-thread.ts";
import type { Platform, Thread, Timer } from "../../platform/platform.ts";
import { waitAtMost } from "../../platform/wait-at-most.ts";
import type { Beat, Beats, BeatsOptions } from "../sharing.ts";
import { BeatBoard, type BeatThreadInput, type FromBeatThread, type ToBeatThread } from "./beat-board.ts";

// A small part of any time a main thread may be silent for.
const liveEveryMs = 500;
const goodbyeMs = 2_000;

export type BeatsPlatform = Pick<Platform, "monoMs" | "timer"> & Partial<Pick<Platform, "startThread">>;

export interface BeatingFrom {
  readonly platform: BeatsPlatform;
  readonly url: string;
  readonly owner: string;
}

interface Shared {
  readonly started: Promise<Beats>;
  readonly onTrouble: Set<(error: unknown) => void>;
  users: number;
}

/** One thread for all that beat alike, however many engines are over the store. */
export class SharedBeats {
  private readonly threads = new Map<string, Shared>();

  constructor(private readonly from: BeatingFrom) {}

  async open(options: BeatsOptions): Promise<Beats> {
    const { termMs, blockedMaxMs, about } = options;
    const kind = JSON.stringify([termMs, blockedMaxMs, about]);
    const thread = this.threads.get(kind) ?? this.start(kind, options);
    this.threads.set(kind, thread);
    thread.users++;
    thread.onTrouble.add(options.onTrouble);
    const leave = () => {
      thread.users--;
      thread.onTrouble.delete(options.onTrouble);
      if (thread.users === 0 && this.threads.get(kind) === thread) this.threads.delete(kind);
    };
    const beats = await thread.started.catch((error: unknown) => {
      leave();
      throw error;
    });
    return {
      hold: (worker, askedMono) => beats.hold(worker, askedMono),
      drop: (worker) => beats.drop(worker),
      last: (worker) => beats.last(worker),
      close: async () => {
        leave();
        if (thread.users === 0) await beats.close();
      },
    };
  }

  /** All who use it hear when it ends; whoever opens it next gets another one. */
  private start(kind: string, options: BeatsOptions): Shared {
    const listeners = new Set<(error: unknown) => void>();
    const onTrouble = (error: unknown) => {
      if (this.threads.get(kind) === thread) this.threads.delete(kind);
      for (const tell of [...listeners]) tell(error);
    };
    const thread: Shared = {
      started: startBeats(this.from, { ...options, onTrouble }),
      onTrouble: listeners,
      users: 0,
    };
    return thread;
  }

  async close(): Promise<void> {
    const threads = [...this.threads.values()];
    this.threads.clear();
    for (const { started } of threads) await started.then((beats) => beats.close()).catch(() => {});
  }
}

async function startBeats({ platform, url, owner }: BeatingFrom, options: BeatsOptions): Promise<Beats> {
  if (platform.startThread === undefined) throw new Error("there are no threads here");
  const board = new BeatBoard();
  board.live(steadyMs());
  const { termMs, blockedMaxMs, about = null, onTrouble } = options;
  const input: BeatThreadInput = { memory: board.memory, url, owner, termMs, blockedMaxMs, about };
  const thread = platform.startThread("store/postgres/beat-thread", input);
  thread.ref(false);
  const beats = new ThreadBeats(thread, board, platform, onTrouble);
  try {
    await beats.opened;
    return beats;
  } catch (error) {
    await beats.close();
    throw error;
  }
}

class ThreadBeats implements Beats {
  readonly opened: Promise<void>;
  private readonly ended: Promise<void>;
  private readonly places = new Map<string, number>();
  private count = 0;
  private living: Timer;
  /** What the threads' common clock is ahead of this platform's: they may begin at different instants. */
  private readonly aheadMs: number;
  private isOver = false;

  constructor(
    private readonly thread: Thread,
    private readonly board: BeatBoard,
    private readonly platform: Pick<Platform, "monoMs" | "timer">,
    onTrouble: (error: unknown) => void,
  ) {
    let tellEnded = () => {};
    this.ended = new Promise((resolve) => {
      tellEnded = resolve;
    });
    this.opened = new Promise((resolve, reject) => {
      thread.onMessage((message: FromBeatThread) => {
        if (message.kind === "open") resolve();
        else reject(errors.STORE_UNAVAILABLE({ why: message.why }));
      });
      thread.onEnd((error) => {
        const why = error ?? new Error("the thread that extends the leases ended");
        reject(why);
        if (!this.isOver) onTrouble(why);
        this.isOver = true;
        // What it last heard stays true; nothing here extends it any more.
        this.places.clear();
        tellEnded();
      });
    });
    this.aheadMs = steadyMs() - platform.monoMs();
    this.living = this.live();
  }

  hold(worker: string, askedMono: number): void {
    if (this.isOver) return;
    const known = this.last(worker);
    if (known !== null) {
      if (known.state === "held" && known.askedMono < askedMono) this.write(worker, askedMono);
      return;
    }
    const place = BeatBoard.placeOf(this.count++);
    this.places.set(worker, place);
    this.write(worker, askedMono);
    this.post({ kind: "hold", worker, place });
  }

  private write(worker: string, askedMono: number): void {
    this.board.write(this.places.get(worker)!, { askedMono: askedMono + this.aheadMs, state: "held" });
  }

  drop(worker: string): void {
    if (this.places.delete(worker)) this.post({ kind: "drop", worker });
  }

  last(worker: string): Beat | null {
    const place = this.places.get(worker);
    if (place === undefined) return null;
    const { askedMono, state } = this.board.read(place);
    return { askedMono: askedMono - this.aheadMs, state };
  }

  async close(): Promise<void> {
    this.living.cancel();
    this.places.clear();
    if (this.isOver) return;
    this.isOver = true;
    this.post({ kind: "close" });
    await waitAtMost(this.platform, goodbyeMs, this.ended);
    await this.thread.terminate();
  }

  private post(message: ToBeatThread): void {
    this.thread.post(message);
  }

  private live(): Timer {
    return this.platform.timer(
      liveEveryMs,
      () => {
        this.board.live(steadyMs());
        if (!this.isOver) this.living = this.live();
      },
      { background: true },
    );
  }
}
