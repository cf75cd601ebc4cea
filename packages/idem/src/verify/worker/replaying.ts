// The runs of a store, replayed one after the other over modules that are loaded once, as a process that takes them up would have them.

import type { FunctionCode } from "../../execute/function-code.ts";
import { recordedNames } from "../../model/function-names.ts";
import type { Replay, ReplayedRun } from "../deploy/replay.ts";
import { asCaller, type Caller } from "./caller.ts";
import { WayOutShut } from "./deny-ways-out.ts";
import { Life } from "./life.ts";
import { type Entered, type ReplayPlace, replayRun } from "./replay-run.ts";
import type { World } from "./world.ts";
import { WorldClock } from "./world-clock.ts";

interface Known {
  readonly code: FunctionCode;
  readonly checkData: ReplayPlace["checkData"];
}

export class Replaying {
  private readonly known = new Map<string, Known>();
  private readonly refusals = new WeakMap<object, Set<string>>();

  constructor(
    private readonly world: World,
    private readonly loaded: Life,
  ) {
    for (const taken of loaded.clients) {
      for (const code of taken.codes) {
        for (const name of recordedNames(code))
          this.known.set(name, { code, checkData: (event) => taken.checkEvents([event]) });
      }
    }
  }

  async replay(runs: readonly ReplayedRun[], now: number, onEnter: () => void): Promise<Replay[]> {
    const replays: Replay[] = [];
    for (const run of runs) {
      const { code, checkData } = this.known.get(run.fn)!;
      onEnter();
      replays.push(await replayRun(code, run, { checkData, enter: (of, body) => this.enter(of, now, body) }));
    }
    return replays;
  }

  /** The outside does not answer, and what asked for it is remembered. */
  refuse(caller: Caller | null, what: string): { readonly kind: "lost" } {
    if (caller?.run != null) this.refusals.get(caller.run)?.add(what);
    return { kind: "lost" };
  }

  refuseToRead(caller: Caller | null, what: string): never {
    this.refuse(caller, what);
    throw new WayOutShut(what);
  }

  /** In a process of its own, whose timers are forgotten with it. */
  private async enter<T>(
    { fn, runId }: { readonly fn: string; readonly runId: string },
    now: number,
    body: (entered: Entered) => Promise<T>,
  ): Promise<T> {
    const clock = new WorldClock(now);
    const { options } = this.loaded;
    let stirred = 0;
    const life = new Life({ ...options, home: this.world, clock, stir: () => stirred++, onPoint: () => {} });
    const run = { fn, runId, isOver: false };
    const refused = new Set<string>();
    this.refusals.set(run, refused);
    try {
      return await asCaller({ life, run }, () => body({ life, clock, stirred: () => stirred, refused }));
    } finally {
      run.isOver = true;
      life.die();
    }
  }
}
