// The processes of a world, one after the other or beside each other: their modules loaded, their clients given the world's store and set to work.
import { relayMark } from "../../model/relay-mark.ts";
import { type TakenClient, takeClients } from "../../sdk/take-client.ts";
import { MemoryStore } from "../../store/memory/store.ts";
import type { Store } from "../../store/store.ts";
import { asCaller, currentCaller } from "./caller.ts";
import { forgetGlobals } from "./forget-globals.ts";
import { Life, type LifeOptions } from "./life.ts";
import { loadModules } from "./load-modules.ts";
import { realMonoMs } from "./real.ts";
import type { WatchedFunctions } from "./watched-functions.ts";
import type { WatchedWorld } from "./watcher.ts";
import type { WorldOptions } from "./world.ts";

/** After a process was lost, what it held is given to another before anything that is due later. */
const handoverMs = 30_000;

interface ProcessesOf extends Pick<LifeOptions, "home" | "clock" | "stir" | "onPoint"> {
  /** Filled here. */
  readonly lives: Life[];
  readonly options: Pick<WorldOptions, "modules" | "seed" | "askHttp" | "onStoreCall" | "onTaken" | "onModule">;
  readonly store: MemoryStore;
  readonly watched: readonly WatchedWorld[];
  readonly functions: WatchedFunctions;
  readonly onDiverged: (runId: string, step: string, asked: string | null) => void;
}

export class WorldProcesses {
  /** The exports of the program's configuration; null without one. */
  configuration: unknown = null;
  /** An engine has its store in the user's database. */
  isTransactional = false;
  /** On the world's steady clock. */
  handoverUntil = 0;
  /** Providers' SDKs take a while to load: no time that the world took. */
  loadingMs = 0;
  private readonly onMoved = new Map<Life, () => void>();

  constructor(private readonly of: ProcessesOf) {}

  get lives(): readonly Life[] {
    return this.of.lives;
  }

  /** The process that takes what is sent: the newest that runs. */
  get living(): Life | null {
    return this.of.lives.findLast((life) => !life.isDead && !life.isFrozen) ?? null;
  }

  /** A process, its modules loaded; not yet at work. */
  async load(): Promise<Life> {
    const { lives, watched, home, clock, stir, onPoint, options } = this.of;
    const isFirst = lives.length === 0;
    for (const each of watched) await (isFirst ? each.ready?.() : each.bury?.());
    const life = new Life({
      home,
      index: lives.length + 1,
      seed: options.seed,
      clock,
      stir,
      onPoint,
      fetch: options.askHttp,
      onStoreCall: options.onStoreCall ?? (() => {}),
    });
    lives.push(life);
    const scratch = new MemoryStore(clock);
    const moved = new Promise<void>((resolve) => this.onMoved.set(life, resolve));
    takeClients(() => {
      const at = currentCaller()?.life ?? life;
      const take = (taken: TakenClient): void => {
        at.clients.push(taken);
        holdRelays(taken, moved);
        options.onTaken?.(taken);
      };
      return { platform: at.platform(), scratch, take };
    });
    forgetGlobals();
    const before = realMonoMs();
    this.configuration = await asCaller({ life, run: null }, () =>
      loadModules(options.modules, (path, exported) => options.onModule?.(life, path, exported)),
    );
    this.loadingMs += realMonoMs() - before;
    life.isLoading = false;
    return life;
  }

  async open(): Promise<void> {
    const { home, clock, functions, onDiverged, lives } = this.of;
    const isBeside = this.living !== null;
    const life = await this.load();
    for (const taken of life.clients) {
      functions.fit(life, taken);
      taken.moveTo(this.storeOf(life, taken));
      taken.client.on("run.diverged", ({ step, asked, runId }) => {
        if (!life.isDead) onDiverged(runId, step, asked);
      });
    }
    this.onMoved.get(life)?.();
    if (isBeside) home.say("a second process runs beside the first");
    else if (lives.length > 1) {
      home.say("another process took over");
      this.handoverUntil = clock.monoMs() + handoverMs;
    }
    await asCaller({ life, run: null }, () => this.startAll(life));
  }

  /** The world's, and what an engine keeps in the user's own database. */
  private storeOf(life: Life, { store: configured }: TakenClient): Store {
    const store = life.storeOf(this.of.store);
    for (const each of this.of.watched) {
      const parts = each.engineOf?.(life, configured, store) ?? null;
      if (parts === null) continue;
      this.isTransactional = true;
      return new Proxy(store, {
        get: (of, name) => Reflect.get(name === "outbox" || name === "transactional" ? parts : of, name) as unknown,
      });
    }
    return store;
  }

  private async startAll(life: Life): Promise<void> {
    // Not waited for: it may die in it.
    for (const { client, codes } of life.clients) {
      if (codes.length > 0)
        void client
          .start()
          .catch((error: unknown) => this.of.home.unproven(`a client could not start: ${String(error)}`));
    }
  }
}

/** Events sent while modules are loaded reach nobody. A relay's are held until loading is over: taken from an outbox, they would be lost. */
function holdRelays({ client }: TakenClient, moved: Promise<void>): void {
  const send = client.send.bind(client) as (...args: unknown[]) => Promise<unknown>;
  let isMoved = false;
  void moved.then(() => {
    isMoved = true;
  });
  const held = (...args: unknown[]): Promise<unknown> => {
    const isRelay = !isMoved && typeof args[1] === "object" && args[1] !== null && relayMark in args[1];
    return isRelay ? moved.then(() => (client.send as typeof send)(...args)) : send(...args);
  };
  Object.defineProperty(client, "send", { configurable: true, value: held });
}
