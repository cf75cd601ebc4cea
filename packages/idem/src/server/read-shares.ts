// Long reads (pages, lists, counts, searches) of the people and tools that ask a server for them, in fair turns. Commits do not wait for them
// (store/sqlite/read-shell.ts), but other readers would, a PostgreSQL store has a bounded number of sessions for both, and all of them share
// the machine. So a few are with the store at once, each principal has a part of those, and its share of the store's time is taken from a
// budget that refills. A read is charged for its share only: reads that are with the store at once share each millisecond. Its whole duration
// would charge a caller for the reads of an attacker that it waits behind: in an abuse test operators owed so much after ten seconds of it
// that their pages took 4 s for the twenty seconds that followed. A principal that has spent its budget reads one at a time, while no other
// has a read with the store or waiting: on a machine that is busy with something else reads take long, and no caller is locked out for that.
// A read is refused only if very many requests of its principal wait already.
//
//   asked ──there is room──▶ with the store ──▶ answered, and its time is charged
//     └──▶ waiting, in the order of its principal ──its turn: the budget is not spent, or no other caller reads──▶ with the store
import type { Engine } from "../engine/engine.ts";
import { errors } from "../model/errors.ts";
import type { Platform } from "../platform/platform.ts";
import { readKinds, type StoreReads } from "../store/reads.ts";
import type { Store } from "../store/store.ts";
import type { Actor, Role } from "./people/actor.ts";
import type { World } from "./world.ts";

export const readLimits = {
  // A thread reads them one by one on SQLite; on PostgreSQL half of the pool stays for commits, by default.
  readsAtOnce: 4,
  // One waits in the thread while the other is read; two more are there for others.
  readsAtOncePerPrincipal: 2,
  // Of each second: a caller that takes more than half of the store's time gives way to the others.
  readMsPerSecond: 500,
  // Pages that a person opens one after another never give way. As much can be owed at most, so that it is paid back within ten seconds.
  readMsSaved: 5_000,
  // The way to the store and back, which is no work of its own.
  readMsFree: 1,
  // Of the places for requests under way: a caller that has more of them waiting is refused the next.
  waitingRequestsPerPrincipal: 250,
} as const;

type ReadLimits = { readonly [K in keyof typeof readLimits]: number };

type LongRead = () => Promise<unknown>;

interface Waiting {
  readonly begin: () => void;
  readonly request: RequestReads;
}

/** What one request has waiting. */
interface RequestReads {
  waiting: number;
}

interface Share {
  readonly role: Role;
  atOnce: number;
  readonly waiting: Waiting[];
  waitingRequests: number;
  /** The rest of the budget, as it was at `sinceMono`. */
  leftMs: number;
  sinceMono: number;
}

// Applications name the principals of a mounted dashboard; those that have nothing under way are forgotten above this.
const sharesMax = 1_000;

export class ReadShares {
  private readonly shares = new Map<string, Share>();
  /** Those that have reads waiting, of each role; who was served last is last. */
  private readonly queues: Readonly<Record<Role, Set<Share>>> = { operator: new Set(), viewer: new Set() };
  /** Roles take turns, so that however many viewers there are, an operator's read is one of the next two. */
  private nextRole: Role = "operator";
  private atOnce = 0;
  /** The time that a read with the store from the beginning until `servedMono` would have been charged for. */
  private servedMs = 0;
  private servedMono = 0;
  private readonly limits: ReadLimits;

  constructor(
    private readonly platform: Pick<Platform, "monoMs">,
    limits: Partial<ReadLimits> = {},
  ) {
    this.limits = { ...readLimits, ...limits };
  }

  /** For the reads of one request. */
  of({ name, role, onlyEnv }: Actor): (read: LongRead) => Promise<unknown> {
    const principal = `${role} ${onlyEnv ?? ""} ${name}`;
    const request: RequestReads = { waiting: 0 };
    return (read) => this.run(this.shareOf(principal, role), request, read);
  }

  private async run(share: Share, request: RequestReads, read: LongRead): Promise<unknown> {
    if (share.waiting.length === 0 && this.hasRoom(share)) this.begin(share);
    else await this.turn(share, request);
    const servedBefore = this.served();
    try {
      return await read();
    } finally {
      const { readMsFree, readMsSaved } = this.limits;
      const ms = Math.max(0, this.served() - servedBefore - readMsFree);
      share.leftMs = Math.max(-readMsSaved, this.refilled(share) - ms);
      share.atOnce--;
      this.atOnce--;
      this.serve();
    }
  }

  private begin(share: Share): void {
    this.served();
    share.atOnce++;
    this.atOnce++;
  }

  /** Called before the number of reads with the store changes. */
  private served(): number {
    const now = this.platform.monoMs();
    if (this.atOnce > 0) this.servedMs += (now - this.servedMono) / this.atOnce;
    this.servedMono = now;
    return this.servedMs;
  }

  private turn(share: Share, request: RequestReads): Promise<void> {
    const { waitingRequestsPerPrincipal } = this.limits;
    if (request.waiting === 0 && share.waitingRequests >= waitingRequestsPerPrincipal) {
      throw errors.SERVER_BUSY({ why: `${waitingRequestsPerPrincipal} requests of this caller wait to read already` });
    }
    if (request.waiting++ === 0) share.waitingRequests++;
    return new Promise((resolve) => {
      share.waiting.push({ begin: resolve, request });
      this.queues[share.role].add(share);
      this.serve();
    });
  }

  /** Begins what there is room for. */
  private serve(): void {
    while (this.atOnce < this.limits.readsAtOnce) {
      const other = this.nextRole === "operator" ? "viewer" : "operator";
      const share = this.firstOf(this.nextRole) ?? this.firstOf(other) ?? this.firstSpent();
      if (share === null) break;
      this.nextRole = share.role === "operator" ? "viewer" : "operator";
      this.serveOne(share);
    }
  }

  private serveOne(share: Share): void {
    const { begin, request } = share.waiting.shift()!;
    if (--request.waiting === 0) share.waitingRequests--;
    const queue = this.queues[share.role];
    queue.delete(share);
    if (share.waiting.length > 0) queue.add(share);
    this.begin(share);
    begin();
  }

  private firstOf(role: Role): Share | null {
    for (const share of this.queues[role]) if (this.hasRoom(share)) return share;
    return null;
  }

  /** While no other caller reads. */
  private firstSpent(): Share | null {
    if (this.atOnce > 0) return null;
    for (const role of [this.nextRole, "operator", "viewer"] as const)
      for (const share of this.queues[role]) return share;
    return null;
  }

  private hasRoom(share: Share): boolean {
    const { readsAtOnce, readsAtOncePerPrincipal } = this.limits;
    return this.atOnce < readsAtOnce && share.atOnce < readsAtOncePerPrincipal && this.refilled(share) > 0;
  }

  private refilled(share: Share): number {
    const now = this.platform.monoMs();
    const { readMsPerSecond, readMsSaved } = this.limits;
    share.leftMs = Math.min(readMsSaved, share.leftMs + ((now - share.sinceMono) / 1_000) * readMsPerSecond);
    share.sinceMono = now;
    return share.leftMs;
  }

  private shareOf(principal: string, role: Role): Share {
    const known = this.shares.get(principal);
    if (known !== undefined) return known;
    if (this.shares.size >= sharesMax) this.forgetIdle();
    const { readMsSaved } = this.limits;
    const share: Share = {
      role,
      atOnce: 0,
      waiting: [],
      waitingRequests: 0,
      leftMs: readMsSaved,
      sinceMono: this.platform.monoMs(),
    };
    this.shares.set(principal, share);
    return share;
  }

  private forgetIdle(): void {
    for (const [principal, share] of this.shares) {
      const isIdle = share.atOnce === 0 && share.waiting.length === 0;
      if (isIdle && this.refilled(share) >= this.limits.readMsSaved) this.shares.delete(principal);
    }
  }
}

const byWorld = new WeakMap<World, ReadShares>();

/** The engine as a request of this caller uses it: its long reads take their turns, and a run's history is one of them. */
export function engineFor(actor: Actor, engine: Engine, world: World): Engine {
  const shares = byWorld.get(world) ?? new ReadShares(world.platform);
  byWorld.set(world, shares);
  const inTurn = shares.of(actor);
  const reads = new Proxy(engine.store.reads, {
    get: (target, key) => {
      const name = (key === "runMemo" ? "runHistory" : key) as keyof StoreReads;
      const read = target[name] as ((...input: unknown[]) => Promise<unknown>) | undefined;
      if (read === undefined) return undefined;
      if (readKinds[name] !== "page") return read.bind(target);
      return (...input: unknown[]) => inTurn(() => read.apply(target, input));
    },
  });
  const store: Store = withPart(engine.store, "reads", reads);
  return withPart(engine, "store", store);
}

/** The same object but for one part of it; its methods do not see the difference. */
function withPart<T extends object, K extends keyof T>(of: T, name: K, part: T[K]): T {
  return new Proxy(of, {
    get: (target, key) => {
      if (key === name) return part;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
