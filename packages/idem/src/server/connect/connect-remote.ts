// The gateway of workers that connect: apps that have no URL, whose processes open a WebSocket to us and wait for calls.
// Connecting is registering: what a worker greets with is the app's registration. It holds no facts; whatever was under way when
// this process dies is asked for again by the run that waited for it.
import type { Logger } from "../../execute/function-code.ts";
import type { Remote, RemoteCall, RemoteReply } from "../../execute/remote.ts";
import { errors, IdemError } from "../../model/errors.ts";
import { UlidSource } from "../../model/ulid.ts";
import type { Platform } from "../../platform/platform.ts";
import {
  type ExtendLease,
  frameKind,
  replyAck,
  type SdkResponse,
  sdkResponse,
  startResponse,
  type WorkerApp,
  type WorkerConnect,
} from "../../protocol/connect-messages.ts";
import type { AppRegistration, Apps } from "../apps.ts";
import type { Letters } from "../channels/letters.ts";
import { SilentPeers } from "../silent-peers.ts";
import type { Tokens } from "../tokens.ts";
import { AppCalls } from "./app-calls.ts";
import { type ConnectLimits, connectLimits } from "./connect-limits.ts";
import { ticketParameter } from "./connect-workers.ts";
import { readWorkerApp } from "./read-worker-app.ts";
import { type Admission, type ConnectionEvents, WorkerConnection } from "./worker-connection.ts";
import { WorkerPool } from "./worker-pool.ts";
import type { WorkerSocket } from "./worker-socket.ts";

/** The origin of a socket. */
interface Origin {
  readonly address: string;
  /** The connection whose ticket of /v0/connect/start it brought. */
  readonly expectedAs: string | null;
}

export interface ConnectGatewayOptions {
  readonly platform: Platform;
  readonly logger: Logger;
  /** A worker came or went. */
  readonly onWorkers?: (env: string) => void;
  /** Other nodes, and whether one of them waits for what a worker has to say about a run; null where there are none. */
  readonly elsewhere?: Elsewhere | null;
  /** For tests that cannot wait as long. */
  readonly limits?: Partial<ConnectLimits>;
}

export interface Elsewhere {
  readonly letters: Pick<Letters, "send" | "open">;
  has(env: string, runId: string): Promise<boolean>;
}

/** The part of its world that a gateway uses. */
export interface GatewayWorld {
  readonly apps: Pick<Apps, "register" | "noteWorkerFailure">;
  readonly tokens: Pick<Tokens, "mint" | "read">;
}

// SDK 4 tries again within 0.5 to 1.5 s when it reads these words, and backs off for up to 5 minutes when it does not.
const closingWords = "connect_gateway_closing";

const acknowledge = (connection: WorkerConnection, { requestId }: SdkResponse): void => {
  connection.send(frameKind.workerReplyAck, replyAck.encode({ requestId }));
};

export class ConnectGateway {
  readonly #platform: Platform;
  readonly #logger: Logger;
  readonly #onWorkers: (env: string) => void;
  readonly #elsewhere: Elsewhere | null;
  readonly #limits: ConnectLimits;
  readonly #ids: UlidSource;
  readonly #pool = new WorkerPool();
  readonly #calls: AppCalls;
  readonly #connections = new Set<WorkerConnection>();
  /** Of them, those that nobody knows. */
  readonly #strangers: SilentPeers<WorkerConnection>;
  #strangersBytes = 0;
  readonly #ticketsUsed = new Set<string>();
  /** Ids that /v0/connect/start gave out and a worker holds: each is good for one connection at a time. */
  readonly #idsHeld = new Set<string>();
  #isStopping = false;
  #whenEmpty: () => void = () => {};

  constructor({ platform, logger, limits, onWorkers, elsewhere }: ConnectGatewayOptions) {
    this.#platform = platform;
    this.#logger = logger;
    this.#onWorkers = onWorkers ?? (() => {});
    this.#elsewhere = elsewhere ?? null;
    this.#limits = { ...connectLimits, ...limits };
    this.#strangers = new SilentPeers({
      max: this.#limits.strangersMax,
      perAddressMax: this.#limits.strangersPerAddressMax,
      cut: (connection) => connection.cut(),
    });
    this.#ids = new UlidSource(
      () => platform.wallMs(),
      (count) => platform.randomBytes(count),
    );
    this.#calls = new AppCalls({
      platform,
      limits: this.#limits,
      pool: this.#pool,
      nextId: () => this.#ids.next(),
      movesBetweenNodes: this.#elsewhere !== null,
    });
  }

  remoteFor(env: string, app: string): Remote {
    return { call: (call) => this.#call(env, app, call) };
  }

  /** Its worker may go to another node meanwhile: what it says there comes by letter. */
  async #call(env: string, app: string, call: RemoteCall): Promise<RemoteReply> {
    const close = this.#elsewhere?.letters.open(env, call.runId, { fromBefore: false }, (letter) => {
      if (letter.kind === "report" || letter.requestId !== call.requestId) return;
      if (letter.kind === "extend") this.#calls.onExtendedElsewhere(letter);
      else this.#calls.onFlush(env, sdkResponse.decode(Buffer.from(letter.response, "base64")));
    });
    try {
      return await this.#calls.call(env, app, call);
    } finally {
      close?.();
    }
  }

  /** Workers connected right now, those that are about to leave included. */
  workerCount(env: string, app: string): number {
    return this.#pool.of(env, app).size;
  }

  /** `endpoint` is where the worker shall open its socket. Throws when there is no room, or the server is stopping. */
  start(env: string, endpoint: string, { tokens }: GatewayWorld): Uint8Array {
    this.checkRoom();
    const connectionId = this.#ids.next();
    const { sessionTokenMs } = this.#limits;
    const sessionToken = tokens.mint(env, "connect", { connectionId }, sessionTokenMs);
    // Of its own: it stands in an address, which proxies write down.
    const ticket = tokens.mint(env, "connect-ticket", { connectionId }, sessionTokenMs);
    // One token for both: the right to connect is the right to register, for they are the same message.
    return startResponse.encode({
      connectionId,
      gatewayEndpoint: `${endpoint}?${ticketParameter}=${ticket}`,
      gatewayGroup: "idem",
      sessionToken,
      syncToken: sessionToken,
    });
  }

  checkRoom(): void {
    if (this.#isStopping) throw errors.SERVER_BUSY({ why: `it is stopping (${closingWords})` });
    // Strangers are none: they go when others come.
    const { connectionsMax } = this.#limits;
    if (this.#connections.size - this.#strangers.size >= connectionsMax) {
      throw errors.WORKERS_TOO_MANY({ max: connectionsMax });
    }
  }

  /** The connection /v0/connect/start, here or on a node with the same keys, gave this ticket to; null for any other text. */
  expects(ticket: string | null, { tokens }: GatewayWorld): string | null {
    const read = tokens.read(ticket, "connect-ticket");
    return read === null ? null : String(read.claims.connectionId);
  }

  accept(socket: WorkerSocket, world: GatewayWorld, { address, expectedAs }: Origin): void {
    let heldId: string | null = null;
    let ticketUsed: string | null = null;
    let greetingBytes = 0;
    const proven = () => {
      if (ticketUsed !== null) this.#ticketsUsed.delete(ticketUsed);
      ticketUsed = null;
      this.#strangers.delete(connection);
      this.#strangersBytes -= greetingBytes;
      greetingBytes = 0;
      countBytes = () => {};
    };
    let countBytes = (count: number) => {
      greetingBytes += count;
      this.#strangersBytes += count;
      while (this.#strangersBytes > this.#limits.greetingBytesTotalMax && this.#strangers.cutLongest(connection));
    };
    const hold = (connectionId: string) => {
      if (this.#idsHeld.has(connectionId)) return false;
      this.#idsHeld.add(connectionId);
      heldId = connectionId;
      return true;
    };
    const events: ConnectionEvents = {
      admit: (greeting) => this.#admit(greeting, world, hold, proven),
      onAdmitted: (connection) => {
        this.#pool.add(connection);
        this.#onWorkers(connection.env);
        this.#logger.info(`Worker ${connection.name} connected: ${[...connection.apps.keys()].join(", ")}`);
      },
      onReady: (connection) => this.#calls.fill(connection.env, connection.apps.keys()),
      onPause: (connection) => this.#calls.onPause(connection),
      onAck: (connection, requestId) => this.#calls.onAck(connection, requestId),
      onExtendLease: (connection, request) => {
        if (this.#elsewhere === null || this.#calls.knows(request.requestId)) {
          this.#calls.onExtendLease(connection, request);
        } else this.#withinRoom(connection, 0, () => this.#extendElsewhere(this.#elsewhere!, connection, request));
      },
      onReply: (connection, response) => {
        if (this.#calls.knows(response.requestId)) acknowledge(connection, response);
        else if (this.#elsewhere === null) acknowledge(connection, response);
        else {
          this.#withinRoom(connection, response.body.length, () => this.#acknowledgeUnheard(connection, response));
        }
        this.#calls.onReply(connection, response);
      },
      onStatus: (connection, requestIds) => this.#calls.onStatus(connection, requestIds),
      onClose: (connection) => {
        proven();
        this.#connections.delete(connection);
        if (heldId !== null) this.#idsHeld.delete(heldId);
        this.#pool.delete(connection);
        this.#calls.onClose(connection);
        this.#onWorkers(connection.env);
        if (this.#connections.size === 0) this.#whenEmpty();
      },
    };
    const connection = new WorkerConnection(socket, {
      platform: this.#platform,
      logger: this.#logger,
      limits: this.#limits,
      events,
    });
    this.#connections.add(connection);
    // A ticket that was seen by others is good for one silent socket.
    if (expectedAs !== null && !this.#ticketsUsed.has(expectedAs)) {
      this.#ticketsUsed.add(expectedAs);
      ticketUsed = expectedAs;
      return;
    }
    socket.onGreetingBytes((count) => countBytes(count));
    this.#strangers.add(connection, address);
  }

  /** Dropped where one worker has said more than the store takes in: it says the rest again. */
  #withinRoom({ elsewhere }: WorkerConnection, bytes: number, work: () => Promise<void>): void {
    const { elsewhereMax, elsewhereBytesMax } = this.#limits;
    const isFull = elsewhere.count >= elsewhereMax || elsewhere.bytes + bytes > elsewhereBytesMax;
    if (elsewhere.count > 0 && isFull) return;
    elsewhere.count++;
    elsewhere.bytes += bytes;
    void work().finally(() => {
      elsewhere.count--;
      elsewhere.bytes -= bytes;
    });
  }

  /** A reply that could not be given over a connection. */
  async flush(env: string, response: SdkResponse): Promise<void> {
    if (!this.#calls.knows(response.requestId)) await this.#passOn(env, response);
    this.#calls.onFlush(env, response);
  }

  /** Nobody here waits for it. Acknowledged it is gone, so it is stored first where another node may; not acknowledged the worker flushes it. */
  async #acknowledgeUnheard(connection: WorkerConnection, response: SdkResponse): Promise<void> {
    try {
      await this.#passOn(connection.env, response);
      acknowledge(connection, response);
    } catch (error) {
      this.#logger.error(`idem: a worker's reply for run ${response.runId} could not be passed on`, error);
    }
  }

  async #passOn(env: string, response: SdkResponse): Promise<void> {
    const { requestId, runId } = response;
    if (this.#elsewhere === null || !(await this.#elsewhere.has(env, runId))) return;
    const bytes = Buffer.from(sdkResponse.encode(response)).toString("base64");
    await this.#elsewhere.letters.send(env, runId, { kind: "reply", requestId, response: bytes });
  }

  /** The other node knows the right lease: shown a wrong one, it waits no longer for that. */
  async #extendElsewhere(
    { letters, has }: Elsewhere,
    connection: WorkerConnection,
    request: ExtendLease,
  ): Promise<void> {
    const { requestId, runId, leaseId } = request;
    const { env } = connection;
    try {
      const newLeaseId = (await has(env, runId)) ? this.#ids.next() : null;
      if (newLeaseId !== null) await letters.send(env, runId, { kind: "extend", requestId, leaseId, newLeaseId });
      this.#calls.answerExtension(connection, request, newLeaseId);
    } catch (error) {
      // Without an answer the worker keeps its lease and asks again.
      this.#logger.error(`idem: that a worker still works on run ${runId} could not be passed on`, error);
    }
  }

  /**
   * Calls under way may end within the grace; then the workers are sent away. Not earlier: told that the gateway closes, the SDK
   * keeps its replies until it has found another, and where this is the only one they would come too late.
   */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    await this.#calls.drain(graceMs);
    if (this.#connections.size === 0) return;
    const empty = new Promise<void>((resolve) => {
      this.#whenEmpty = resolve;
    });
    for (const connection of [...this.#connections]) connection.dismiss(closingWords);
    await empty;
  }

  async #admit(
    greeting: WorkerConnect,
    { tokens, apps }: GatewayWorld,
    hold: (connectionId: string) => boolean,
    proven: () => void,
  ): Promise<Admission> {
    const { connectionId } = greeting;
    const token = tokens.read(greeting.authData?.sessionToken ?? null, "connect");
    if (token === null || token.claims.connectionId !== connectionId) {
      return { kind: "refused", why: "its session token is not known here or has expired" };
    }
    proven();
    if (this.#isStopping) return { kind: "refused", why: closingWords };
    const { appsPerWorkerMax } = this.#limits;
    if (greeting.apps.length === 0 || greeting.apps.length > appsPerWorkerMax) {
      return { kind: "invalid", why: `a worker has 1 to ${appsPerWorkerMax} apps, not ${greeting.apps.length}` };
    }
    if (!hold(connectionId)) return { kind: "refused", why: "its session token is in use by another worker" };
    try {
      const functions = new Map<string, ReadonlySet<string>>();
      for (const app of greeting.apps) {
        const registration = await this.#register(token.env, app, greeting, apps);
        functions.set(registration.app, new Set(registration.functions.map(({ fn }) => fn)));
      }
      const { instanceId } = greeting;
      const callsMax = greeting.maxWorkerConcurrency ?? 0;
      return {
        kind: "admitted",
        worker: {
          env: token.env,
          instanceId,
          apps: functions,
          callsMax: callsMax > 0 ? callsMax : Number.POSITIVE_INFINITY,
        },
      };
    } catch (error) {
      if (error instanceof IdemError && error.retry === "after-fix") return { kind: "invalid", why: error.message };
      throw error;
    }
  }

  async #register(
    env: string,
    app: WorkerApp,
    greeting: WorkerConnect,
    apps: GatewayWorld["apps"],
  ): Promise<AppRegistration> {
    try {
      const registration = readWorkerApp(app, greeting);
      await apps.register(env, registration);
      return registration;
    } catch (error) {
      if (error instanceof IdemError && error.code === "SDK_VERSION_UNSUPPORTED") {
        apps.noteWorkerFailure(env, app.appName, error.message);
      }
      throw error;
    }
  }
}
