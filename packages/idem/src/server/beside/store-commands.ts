// Commands that read the whole store, for people who ask a server for them from elsewhere: `idem doctor`, `idem backup` and what `idem
// prune` would delete. The server starts them beside itself, as a person there would: so they say the same, and neither its event loop nor
// its file's lock is theirs.
//
//   asked ──▶ running ──▶ ended (kept for a while, to be asked for again under the same id) ──▶ forgotten
//     └─ its budget is spent ──▶ SERVER_BUSY
//
// A copy and an examination have a budget each, so that no examination keeps a copy from being made. Of examinations there is one for each
// environment at a time, and one place is never a signing key's: those who look after the server find it free.
import { errors } from "../../model/errors.ts";
import { type OwnCommandEnd, runOwnCommand } from "../../platform/own-command.ts";
import type { Timer } from "../../platform/platform.ts";
import type { Actor } from "../people/actor.ts";
import type { World } from "../world.ts";

// Of a store of many gigabytes on a slow disk; a command that takes longer is of no use to anybody who waits.
const commandMsMax = 60 * 60_000;
const outBytesMax = 32 * 1024 * 1024;
// A proxy in between ends a request that is silent for a minute, and some after 30 s.
const answerMs = 15_000;
// A caller that was cut off comes back within it.
const keptMs = 5 * 60_000;
// Each is a process that reads the whole store.
export const examinationsMax = 4;
/** Of them, of callers who are of one environment. */
export const keyExaminationsMax = 3;
export const backupsMax = 1;
// The output of each may be megabytes.
const keptMax = 8;
const keptPerEnvironmentMax = 2;

/** Who asks for a command. */
export type CommandCaller = Pick<Actor, "onlyEnv">;

interface Started {
  readonly env: string;
  readonly isBackup: boolean;
  readonly isOfKey: boolean;
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

  constructor(
    private readonly world: World,
    private readonly runCommand = runOwnCommand,
  ) {}

  /** The end of this id's command; null while it runs. The first to name the id starts it. Throws SERVER_BUSY and STORE_NOT_BESIDE. */
  async ask(env: string, id: string, args: readonly string[], caller: CommandCaller): Promise<OwnCommandEnd | null> {
    return this.orLate(this.run(env, id, args, caller));
  }

  /** The same, until it ended. */
  run(env: string, id: string, args: readonly string[], caller: CommandCaller): Promise<OwnCommandEnd> {
    const name = nameOf(env, id, args[0]!);
    const started = this.started.get(name) ?? this.start(name, env, args, caller);
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

  private start(name: string, env: string, args: readonly string[], { onlyEnv }: CommandCaller): Started {
    const { platform, settings } = this.world;
    const about = { env, isBackup: args[0] === "backup", isOfKey: onlyEnv !== null };
    this.checkBudget(about);
    checkBeside(settings.store);
    this.makeRoom(env);
    const abort = new AbortController();
    const late = platform.timer(commandMsMax, () => abort.abort(), { background: true });
    const end = this.runCommand({
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
    const started: Started = { ...about, end, abort, isOver: false, forget: null };
    this.started.set(name, started);
    return started;
  }

  private checkBudget({ env, isBackup, isOfKey }: Pick<Started, "env" | "isBackup" | "isOfKey">): void {
    const running = [...this.started.values()].filter((each) => !each.isOver && each.isBackup === isBackup);
    const refuse = (why: string) => {
      throw errors.SERVER_BUSY({ why });
    };
    if (isBackup && running.length >= backupsMax) refuse("another copy of its store is made");
    if (isBackup) return;
    if (running.some((each) => each.env === env)) refuse(`another command examines environment "${env}"`);
    const ofKeys = running.filter((each) => each.isOfKey).length;
    if (running.length >= examinationsMax || (isOfKey && ofKeys >= keyExaminationsMax)) {
      refuse(`${running.length} commands examine its store`);
    }
  }

  /** Of those that ended: an environment keeps two, so that it never pushes out what others are still to fetch. */
  private makeRoom(env: string): void {
    const ended = [...this.started].filter(([, { isOver }]) => isOver);
    const own = ended.filter(([, each]) => each.env === env);
    const [oldest] = own.length >= keptPerEnvironmentMax ? own : this.started.size >= keptMax ? ended : [];
    if (oldest !== undefined) this.forget(oldest[0]);
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
