// Calls to apps whose workers connect, each from the moment it is wanted until its answer:
//
//   waiting ──a worker with room──▶ sent ──acknowledged──▶ leased ──reply──▶ over
//
// A worker that does not acknowledge loses the call to another one. A leased call belongs to its worker as long as the lease is
// extended, over a reconnect too: the worker that shows the lease goes on. Where nobody waits any more, replies are heard and dropped.
// Repeat: a reply that comes twice, by two connections or through flush, settles the call once.
import { AppUnreachableError, type RemoteCall, type RemoteReply } from "../../execute/remote.ts";
import type { Platform, Timer } from "../../platform/platform.ts";
import {
  type ExtendLease,
  extendLeaseAck,
  frameKind,
  type SdkResponse,
  toHttpAnswer,
} from "../../protocol/connect-messages.ts";
import type { Letter } from "../channels/letters.ts";
import { encodeCall } from "./call-frame.ts";
import type { ConnectLimits } from "./connect-limits.ts";
import type { WorkerConnection } from "./worker-connection.ts";
import type { WorkerPool } from "./worker-pool.ts";

interface AppCall {
  readonly env: string;
  readonly app: string;
  readonly call: RemoteCall;
  readonly settle: { resolve(reply: RemoteReply): void; reject(error: Error): void };
  state: "waiting" | "sent" | "leased" | "over";
  /** Whom it was sent to; null while it waits, and when that worker's connection was lost. */
  connection: WorkerConnection | null;
  /** The latest first. The one before still counts: the news of the latest may be lost together with a connection. */
  leaseIds: readonly string[];
  readonly tried: Set<WorkerConnection>;
  waitingSince: number;
  leaseEndsAt: number;
  timer: Timer | null;
  /** Status reports in a row in which the worker did not name it. */
  unnamedCount: number;
}

// The worker's reply goes out before the status that no longer names the call; one more report for SDKs that mix them up.
const unnamedMax = 2;

interface AppCallsOptions {
  readonly platform: Platform;
  readonly limits: ConnectLimits;
  readonly pool: WorkerPool;
  readonly nextId: () => string;
  /** A worker that lost its line may go on at another node. */
  readonly movesBetweenNodes?: boolean;
}

export class AppCalls {
  readonly #platform: Platform;
  readonly #limits: ConnectLimits;
  readonly #pool: WorkerPool;
  readonly #nextId: () => string;
  readonly #orphanMs: number;
  readonly #calls = new Map<string, AppCall>();
  /** In the order in which they came. Calls that a worker has not acknowledged in time are among them. */
  readonly #waiting = new Set<AppCall>();
  #isDraining = false;
  #whenIdle: () => void = () => {};

  constructor({ platform, limits, pool, nextId, movesBetweenNodes }: AppCallsOptions) {
    this.#platform = platform;
    this.#limits = limits;
    this.#pool = pool;
    this.#nextId = nextId;
    this.#orphanMs = movesBetweenNodes === true ? limits.orphanElsewhereMs : limits.orphanMs;
  }

  call(env: string, app: string, call: RemoteCall): Promise<RemoteReply> {
    return new Promise((resolve, reject) => {
      if (call.signal.aborted) return reject(unreachable(`Nobody waits for the call ${call.requestId} any more`));
      if (this.#calls.has(call.requestId)) return reject(new Error(`The call ${call.requestId} is already under way`));
      const onAbort = () => this.#abandon(entry);
      const settled = () => call.signal.removeEventListener("abort", onAbort);
      const entry: AppCall = {
        env,
        app,
        call,
        settle: {
          resolve: (reply) => {
            settled();
            resolve(reply);
          },
          reject: (error) => {
            settled();
            reject(error);
          },
        },
        state: "waiting",
        connection: null,
        leaseIds: [],
        tried: new Set(),
        waitingSince: 0,
        leaseEndsAt: 0,
        timer: null,
        unnamedCount: 0,
      };
      this.#calls.set(call.requestId, entry);
      call.signal.addEventListener("abort", onAbort, { once: true });
      this.#place(entry);
    });
  }

  /** A worker has room: the call that waits longest goes first. */
  fill(env: string, apps: Iterable<string>): void {
    if (this.#isDraining) return;
    const open = new Set(apps);
    for (const entry of this.#waiting) {
      if (entry.env !== env || !open.has(entry.app)) continue;
      const worker = this.#pickFor(entry);
      if (worker !== null) this.#send(entry, worker);
      else if (!hasRoom(this.#pool.of(env, entry.app))) open.delete(entry.app);
      if (open.size === 0) return;
    }
  }

  onAck(connection: WorkerConnection, requestId: string): void {
    const entry = this.#calls.get(requestId);
    if (entry?.connection !== connection || entry.state !== "sent") return;
    this.#waiting.delete(entry);
    this.#hold(entry, this.#limits.leaseMs);
  }

  onExtendLease(connection: WorkerConnection, request: ExtendLease): void {
    this.answerExtension(connection, request, this.#extend(connection, request.requestId, request.leaseId));
  }

  answerExtension(connection: WorkerConnection, request: ExtendLease, newLeaseId: string | null): void {
    const { requestId, accountId, envId, appId, functionSlug } = request;
    connection.send(
      frameKind.workerRequestExtendLeaseAck,
      extendLeaseAck.encode({ requestId, accountId, envId, appId, functionSlug, newLeaseId }),
    );
  }

  #extend(connection: WorkerConnection, requestId: string, leaseId: string): string | null {
    const entry = this.#calls.get(requestId);
    if (entry === undefined || entry.state === "over" || !isMember(connection, entry)) return null;
    if (!entry.leaseIds.includes(leaseId)) return null;
    if (entry.connection !== connection) {
      entry.connection?.busy.delete(requestId);
      entry.connection = connection;
      connection.busy.add(requestId);
    }
    const newLeaseId = this.#nextId();
    entry.leaseIds = [newLeaseId, leaseId];
    this.#waiting.delete(entry);
    this.#hold(entry, this.#limits.leaseMs);
    return newLeaseId;
  }

  /** Its worker is at another node, and showed a lease of it there. */
  onExtendedElsewhere({ requestId, leaseId, newLeaseId }: Omit<Extract<Letter, { kind: "extend" }>, "kind">): void {
    const entry = this.#calls.get(requestId);
    if (entry?.leaseIds.includes(leaseId) !== true || entry.state === "over" || entry.state === "waiting") return;
    this.#leave(entry);
    entry.leaseIds = [newLeaseId, leaseId];
    this.#waiting.delete(entry);
    this.#hold(entry, this.#limits.extendedElsewhereMs);
  }

  /** Whether it is one of ours, also when nobody waits for it any more. */
  knows(requestId: string): boolean {
    return this.#calls.has(requestId);
  }

  onReply(connection: WorkerConnection, response: SdkResponse): void {
    // Its place is free whether or not anybody waited for the answer. A reply to no call of its own frees none.
    const isFreed = connection.busy.delete(response.requestId);
    const entry = this.#calls.get(response.requestId);
    if (entry !== undefined && isMember(connection, entry)) this.#answer(entry, response);
    if (isFreed) this.fill(connection.env, connection.apps.keys());
  }

  /** A reply by HTTP, from a worker whose connection was lost when it wanted to give it. */
  onFlush(env: string, response: SdkResponse): void {
    const entry = this.#calls.get(response.requestId);
    if (entry !== undefined && entry.env === env) this.#answer(entry, response);
  }

  #answer(entry: AppCall, response: SdkResponse): void {
    if (entry.state === "over") this.#remove(entry);
    else this.#end(entry, () => entry.settle.resolve(toHttpAnswer(response)));
  }

  /** A stopping worker will not begin a call it has not acknowledged: frames arrive in order, and an acknowledgement comes first. */
  onPause(connection: WorkerConnection): void {
    for (const entry of this.#callsOf(connection)) if (entry.state === "sent") this.#place(entry);
  }

  onStatus(connection: WorkerConnection, requestIds: ReadonlySet<string>): void {
    for (const entry of this.#callsOf(connection)) {
      if (entry.state !== "leased") continue;
      entry.unnamedCount = requestIds.has(entry.call.requestId) ? 0 : entry.unnamedCount + 1;
      if (entry.unnamedCount >= unnamedMax) {
        this.#fail(entry, `Worker ${connection.name} of app "${entry.app}" dropped the call without an answer`);
      }
    }
  }

  onClose(connection: WorkerConnection): void {
    for (const entry of this.#callsOf(connection)) {
      if (entry.state === "sent") this.#place(entry);
      else if (entry.state === "over") this.#remove(entry);
      // Nobody can come back to a server that stops.
      else if (this.#isDraining) this.#fail(entry, "The server stopped before the answer came");
      else {
        entry.connection = null;
        this.#hold(entry, Math.min(this.#orphanMs, entry.leaseEndsAt - this.#platform.monoMs()));
      }
    }
    connection.busy.clear();
  }

  /** Ends what nobody has begun; resolves when the rest is answered, or after `graceMs`. */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    for (const entry of [...this.#calls.values()]) {
      if (entry.state === "waiting") this.#fail(entry, "The server is stopping");
      else if (entry.state === "over") this.#remove(entry);
    }
    if (this.#calls.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = this.#platform.timer(graceMs, resolve);
        this.#whenIdle = () => {
          timer.cancel();
          resolve();
        };
      });
    }
    for (const entry of [...this.#calls.values()]) this.#fail(entry, "The server stopped before the answer came");
  }

  *#callsOf(connection: WorkerConnection): Generator<AppCall> {
    for (const requestId of [...connection.busy]) {
      const entry = this.#calls.get(requestId);
      if (entry?.connection === connection) yield entry;
    }
  }

  #pickFor(entry: AppCall): WorkerConnection | null {
    return this.#pool.pick(entry.env, entry.app, entry.call.fn, entry.tried);
  }

  #place(entry: AppCall): void {
    if (this.#isDraining) {
      this.#fail(entry, "The server is stopping");
      return;
    }
    const worker = this.#pickFor(entry);
    if (worker !== null) this.#send(entry, worker);
    else this.#wait(entry);
  }

  #wait(entry: AppCall): void {
    this.#leave(entry);
    if (this.#waiting.size >= this.#limits.callsWaitingMax) {
      this.#fail(entry, `${this.#waiting.size} calls already wait for workers`);
      return;
    }
    entry.state = "waiting";
    entry.leaseIds = [];
    entry.waitingSince = this.#platform.monoMs();
    this.#waiting.add(entry);
    this.#arm(entry, this.#limits.noWorkerMs, () => this.#waited(entry));
  }

  #waited(entry: AppCall): void {
    const { env, app, call, tried } = entry;
    const waitedMs = this.#platform.monoMs() - entry.waitingSince;
    const { isBusy, why } = this.#pool.whyNobody(env, app, call.fn, tried);
    if (isBusy && waitedMs < this.#limits.allBusyMs) {
      this.#arm(entry, this.#limits.allBusyMs - waitedMs, () => this.#waited(entry));
    } else this.#fail(entry, why);
  }

  #send(entry: AppCall, worker: WorkerConnection): void {
    const { call, env, app } = entry;
    this.#leave(entry);
    this.#waiting.delete(entry);
    entry.tried.add(worker);
    entry.connection = worker;
    entry.state = "sent";
    entry.leaseIds = [this.#nextId()];
    worker.busy.add(call.requestId);
    this.#arm(entry, this.#limits.ackMs, () => this.#unacknowledged(entry, worker));
    worker.send(frameKind.gatewayExecutorRequest, encodeCall(env, app, call, entry.leaseIds[0]!));
  }

  /**
   * Its turn is over as soon as anybody else can take the call. Until then it keeps it: a worker whose event loop is blocked has
   * the call in its socket and will come to it, and sending it twice would run it twice.
   */
  #unacknowledged(entry: AppCall, worker: WorkerConnection): void {
    worker.isSilent = true;
    const other = this.#pickFor(entry);
    if (other !== null) {
      this.#send(entry, other);
      return;
    }
    this.#waiting.add(entry);
    this.#arm(entry, this.#limits.leaseMs - this.#limits.ackMs, () =>
      this.#fail(entry, `Worker ${worker.name} of app "${entry.app}" did not acknowledge the call`),
    );
  }

  #hold(entry: AppCall, ms: number): void {
    const endsAt = this.#platform.monoMs() + ms;
    entry.state = "leased";
    entry.unnamedCount = 0;
    entry.leaseEndsAt = endsAt;
    this.#arm(entry, ms, () =>
      // An extension may have arrived while this process itself was stopped; it is read first.
      this.#platform.soon(() => {
        if (entry.state !== "leased" || entry.leaseEndsAt !== endsAt) return;
        this.#fail(entry, `The worker of app "${entry.app}" went away before it answered`);
      }),
    );
  }

  /** Nobody waits for the answer. The worker's place stays taken until it replies or its lease ends. */
  #abandon(entry: AppCall): void {
    const error = unreachable(`Nobody waits for the call ${entry.call.requestId} any more`);
    if (entry.connection === null || this.#isDraining) {
      this.#end(entry, () => entry.settle.reject(error));
      return;
    }
    this.#waiting.delete(entry);
    entry.state = "over";
    this.#arm(entry, this.#limits.leaseMs, () => this.#remove(entry));
    entry.settle.reject(error);
  }

  #fail(entry: AppCall, why: string): void {
    this.#end(entry, () => entry.settle.reject(unreachable(why)));
  }

  #end(entry: AppCall, settle: () => void): void {
    if (entry.state !== "over") settle();
    entry.state = "over";
    this.#remove(entry);
  }

  #remove(entry: AppCall): void {
    entry.timer?.cancel();
    this.#waiting.delete(entry);
    this.#calls.delete(entry.call.requestId);
    const { connection } = entry;
    this.#leave(entry);
    if (this.#calls.size === 0) this.#whenIdle();
    if (connection !== null) this.fill(connection.env, connection.apps.keys());
  }

  #leave(entry: AppCall): void {
    entry.connection?.busy.delete(entry.call.requestId);
    entry.connection = null;
  }

  #arm(entry: AppCall, ms: number, run: () => void): void {
    entry.timer?.cancel();
    entry.timer = this.#platform.timer(ms, run);
  }
}

const unreachable = (why: string): AppUnreachableError => new AppUnreachableError(why);

/** Workers speak only for the apps of their own environment. */
const isMember = (connection: WorkerConnection, entry: AppCall): boolean =>
  connection.env === entry.env && connection.apps.has(entry.app);

function hasRoom(workers: ReadonlySet<WorkerConnection>): boolean {
  for (const worker of workers) if (worker.hasRoom) return true;
  return false;
}
