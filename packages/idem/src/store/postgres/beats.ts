// A node's leases, extended by a thread with a session of its own: a step that keeps the event loop busy costs its node nothing.
import { errors } from "../../model/errors.ts";
import { steadyMs } from "../../platform/node-thread.ts";
import type { Platform, Thread, Timer } from "../../platform/platform.ts";
import { waitAtMost } from "../../platform/wait-at-most.ts";
import type { StoreRollback } from "../history.ts";
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
  /** A heartbeat found that the store lost acknowledged writes. */
  readonly onRollback?: ((rollback: StoreRollback) => void) | undefined;
}

interface SharedThread {
  readonly beats: ThreadBeats;
  readonly users: Set<BeatsOptions>;
}

/** One thread for all that beat alike, however many engines are over the store. */
export class SharedBeats {
  private readonly threads = new Map<string, SharedThread>();

  constructor(private readonly from: BeatingFrom) {}

  open(options: BeatsOptions): Beats {
    const { termMs, blockedMaxMs, about } = options;
    const kind = JSON.stringify([termMs, blockedMaxMs, about]);
    const thread = this.threads.get(kind) ?? this.start(kind, options);
    const { beats, users } = thread;
    users.add(options);
    if (beats.isOpen) options.onOpen();
    return {
      hold: (worker, askedMono) => beats.hold(worker, askedMono),
      drop: (worker) => beats.drop(worker),
      last: (worker) => beats.last(worker),
      close: async () => {
        users.delete(options);
        if (users.size > 0) return;
        if (this.threads.get(kind) === thread) this.threads.delete(kind);
        await beats.close();
      },
    };
  }

  /** All who use it hear when it fails; the next call that opens it starts another thread. */
  private start(kind: string, options: BeatsOptions): SharedThread {
    const users = new Set<BeatsOptions>();
    const beats = startBeats(this.from, {
      ...options,
      onOpen: () => {
        for (const user of [...users]) user.onOpen();
      },
      onTrouble: (error) => {
        if (this.threads.get(kind) === thread) this.threads.delete(kind);
        for (const user of [...users]) user.onTrouble(error);
      },
    });
    const thread: SharedThread = { beats, users };
    this.threads.set(kind, thread);
    return thread;
  }

  async close(): Promise<void> {
    const threads = [...this.threads.values()];
    this.threads.clear();
    await Promise.all(threads.map(({ beats }) => beats.close()));
  }
}

function startBeats({ platform, url, owner, onRollback }: BeatingFrom, options: BeatsOptions): ThreadBeats {
  if (platform.startThread === undefined) throw new Error("this platform has no threads");
  const board = new BeatBoard();
  board.live(steadyMs());
  const { termMs, blockedMaxMs, about = null } = options;
  const input: BeatThreadInput = { memory: board.memory, url, owner, termMs, blockedMaxMs, about };
  const thread = platform.startThread("store/postgres/beat-thread", input);
  thread.ref(false);
  return new ThreadBeats(thread, board, platform, { ...options, onRollback });
}

class ThreadBeats implements Beats {
  isOpen = false;
  private readonly ended: Promise<void>;
  private readonly places = new Map<string, number>();
  private count = 0;
  private living: Timer;
  /** What the threads' common clock is ahead of this platform's: they may begin at different instants. */
  private readonly aheadMs: number;
  private isOver = false;
  private closing: Promise<void> | null = null;

  constructor(
    private readonly thread: Thread,
    private readonly board: BeatBoard,
    private readonly platform: Pick<Platform, "monoMs" | "timer">,
    { onOpen, onTrouble, onRollback }: Pick<BeatsOptions, "onOpen" | "onTrouble"> & Pick<BeatingFrom, "onRollback">,
  ) {
    const fail = (error: unknown) => {
      if (!this.isOver) onTrouble(error);
    };
    thread.onMessage((message: FromBeatThread) => {
      if (message.kind === "rollback") {
        onRollback?.(message.rollback);
        return;
      }
      if (message.kind === "open") {
        this.isOpen = true;
        onOpen();
        return;
      }
      fail(errors.STORE_UNAVAILABLE({ why: message.why }));
      void this.close();
    });
    this.ended = new Promise((resolve) => {
      thread.onEnd((error) => {
        fail(error ?? new Error("the heartbeat thread ended"));
        this.isOver = true;
        this.living.cancel();
        this.places.clear();
        resolve();
      });
    });
    this.aheadMs = steadyMs() - platform.monoMs();
    this.living = this.live();
  }

  /** The message waits in the thread's port until its code is loaded. */
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

  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private async end(): Promise<void> {
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
