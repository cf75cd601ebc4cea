// Commands that read the whole store, for people who ask a server for them from elsewhere: `idem doctor`, `idem backup` and what `idem
// prune` would delete. The server starts them beside itself, as a person there would: so they say the same, and neither its event loop nor
// its file's lock is theirs.
//
//   asked ──▶ running ──▶ ended (kept for a while, to be asked for again under the same id) ──▶ forgotten
//     └─ another one is running ──▶ SERVER_BUSY
import { errors } from "../../model/errors.ts";
import { type OwnCommandEnd, runOwnCommand } from "../../platform/own-command.ts";
import type { Timer } from "../../platform/platform.ts";
import type { World } from "../world.ts";

// Of a store of many gigabytes on a slow disk; a command that takes longer is of no use to anybody who waits.
const commandMsMax = 60 * 60_000;
const outBytesMax = 32 * 1024 * 1024;
// A proxy in between ends a request that is silent for a minute, and some after 30 s.
const answerMs = 15_000;
// A caller that was cut off comes back within it.
const keptMs = 5 * 60_000;
// The output of each may be megabytes.
const keptMax = 4;

interface Started {
  readonly end: Promise<OwnCommandEnd>;
  readonly abort: AbortController;
  isOver: boolean;
  forget: Timer | null;
}

const nameOf = (env: string, id: string, command: string): string => `${env} ${command} ${id}`;

const byWorld = new WeakMap<World, StoreCommands>();

export function storeCommandsOf(world: World): StoreCommands {
  const known = byWorld.get(world) ?? new StoreCommands(world);
  byWorld.set(world, known);
  return known;
}

export class StoreCommands {
  private readonly started = new Map<string, Started>();

  constructor(private readonly world: World) {}

  /** The end of this id's command; null while it runs. The first to name the id starts it. Throws SERVER_BUSY and STORE_NOT_BESIDE. */
  async ask(env: string, id: string, args: readonly string[]): Promise<OwnCommandEnd | null> {
    return this.orLate(this.run(env, id, args));
  }

  /** The same, until it ended. */
  run(env: string, id: string, args: readonly string[]): Promise<OwnCommandEnd> {
    const name = nameOf(env, id, args[0]!);
    const started = this.started.get(name) ?? this.start(name, env, args);
    this.keep(env, id, args[0]!);
    return started.end;
  }

  /** Somebody still asks for it: a command that nobody asks for any more is ended. */
  keep(env: string, id: string, command: string): void {
    const name = nameOf(env, id, command);
    const started = this.started.get(name);
    if (started === undefined) return;
    started.forget?.cancel();
    started.forget = this.world.platform.timer(keptMs, () => this.forget(name), { background: true });
  }

  /** Null where it takes longer than a caller should wait for one answer. */
  async orLate<T>(end: Promise<T>): Promise<T | null> {
    let timer: Timer | null = null;
    const late = new Promise<null>((resolve) => {
      timer = this.world.platform.timer(answerMs, () => resolve(null), { background: true });
    });
    try {
      return await Promise.race([end, late]);
    } finally {
      (timer as Timer | null)?.cancel();
    }
  }

  /** Nobody waits for them any more. */
  close(): void {
    for (const name of this.started.keys()) this.forget(name);
  }

  private start(name: string, env: string, args: readonly string[]): Started {
    const { platform, settings } = this.world;
    const running = [...this.started.values()].find(({ isOver }) => !isOver);
    if (running !== undefined) throw errors.SERVER_BUSY({ why: "another command reads its whole store" });
    checkBeside(settings.store);
    const [oldest] = this.started.keys();
    if (this.started.size >= keptMax) this.forget(oldest!);
    const abort = new AbortController();
    const late = platform.timer(commandMsMax, () => abort.abort(), { background: true });
    const end = runOwnCommand({
      args: [...args, "--env", env],
      env: { IDEM_STORE: settings.store, NO_COLOR: "1", IDEM_DEBUG: "" },
      bytesMax: outBytesMax,
      signal: abort.signal,
    }).finally(() => {
      started.isOver = true;
      late.cancel();
    });
    // Callers hear of it; there may be none.
    end.catch(() => {});
    const started: Started = { end, abort, isOver: false, forget: null };
    this.started.set(name, started);
    return started;
  }

  private forget(name: string): void {
    const started = this.started.get(name);
    started?.forget?.cancel();
    started?.abort.abort();
    this.started.delete(name);
  }
}

/** A store in the memory of a process cannot be read by another. */
export function checkBeside(address: string): void {
  if (/^(memory:|sqlite::memory:$|:memory:$)/.test(address)) throw errors.STORE_NOT_BESIDE({ store: address });
}
