// One worker's connection, from its first frame to its close:
//
//   greeting ──WORKER_CONNECT──▶ registering ──▶ connected ──WORKER_READY──▶ ready ──WORKER_PAUSE──▶ paused
//
// and `closed` from anywhere. Calls go to `ready` ones only; what a worker says about calls it has is heard until it closes.
import type { Logger } from "../../execute/function-code.ts";
import type { Platform, Timer } from "../../platform/platform.ts";
import {
  connectionReady,
  type ExtendLease,
  extendLease,
  frame,
  frameKind,
  requestAck,
  type SdkResponse,
  sdkResponse,
  type WorkerConnect,
  workerConnect,
  workerStatus,
} from "../../protocol/connect-messages.ts";
import { MalformedMessageError } from "../../protocol/protobuf-message.ts";
import type { ConnectLimits } from "./connect-limits.ts";
import type { WorkerSocket } from "./worker-socket.ts";

type ConnectionState = "greeting" | "registering" | "connected" | "ready" | "paused" | "closed";

/** The identity of a worker. */
export interface AdmittedWorker {
  readonly env: string;
  readonly instanceId: string;
  /** The functions it has, by app. */
  readonly apps: ReadonlyMap<string, ReadonlySet<string>>;
  /** Calls it takes at once. */
  readonly callsMax: number;
}

export type Admission =
  | { readonly kind: "admitted"; readonly worker: AdmittedWorker }
  | { readonly kind: "refused"; readonly why: string }
  /** Known and welcome, but what it wants to register is not usable. */
  | { readonly kind: "invalid"; readonly why: string };

/** Calls from a connection to the gateway. */
export interface ConnectionEvents {
  admit(greeting: WorkerConnect): Promise<Admission>;
  /** It is known and may be counted; calls wait until it is ready. */
  onAdmitted(connection: WorkerConnection): void;
  onReady(connection: WorkerConnection): void;
  onPause(connection: WorkerConnection): void;
  onAck(connection: WorkerConnection, requestId: string): void;
  onExtendLease(connection: WorkerConnection, request: ExtendLease): void;
  onReply(connection: WorkerConnection, response: SdkResponse): void;
  onStatus(connection: WorkerConnection, requestIds: ReadonlySet<string>): void;
  onClose(connection: WorkerConnection): void;
}

interface ConnectionDependencies {
  readonly platform: Platform;
  readonly logger: Logger;
  readonly limits: ConnectLimits;
  readonly events: ConnectionEvents;
}

const nobody: AdmittedWorker = { env: "", instanceId: "", apps: new Map(), callsMax: 0 };

export class WorkerConnection {
  readonly #socket: WorkerSocket;
  readonly #platform: Platform;
  readonly #logger: Logger;
  readonly #limits: ConnectLimits;
  readonly #events: ConnectionEvents;
  #state: ConnectionState = "greeting";
  #worker = nobody;
  #isReadyAtOnce = false;
  #heardAt: number;
  #timer: Timer;
  /** Requests it was sent and has not answered. */
  readonly busy = new Set<string>();
  /** What it said about runs of other nodes, while the store is written. */
  readonly elsewhere = { count: 0, bytes: 0 };
  /** When it was last given a call, as a count; the longest idle of equals comes first. */
  lastCallOrder = 0;
  /** It let a call's time for acknowledging pass, and nothing has been heard of it since. */
  isSilent = false;

  constructor(socket: WorkerSocket, { platform, logger, limits, events }: ConnectionDependencies) {
    this.#socket = socket;
    this.#platform = platform;
    this.#logger = logger;
    this.#limits = limits;
    this.#events = events;
    this.#heardAt = platform.monoMs();
    this.#timer = platform.timer(limits.handshakeMs, () => this.#refuse("the handshake took too long"));
    socket.onMessage((bytes) => this.#take(bytes));
    socket.onClose((code, reason) => this.#closed(code, reason));
    this.send(frameKind.gatewayHello);
  }

  get state(): ConnectionState {
    return this.#state;
  }
  get env(): string {
    return this.#worker.env;
  }
  /** Its name for people: workers on one host share it unless they were given one. */
  get name(): string {
    return JSON.stringify(this.#worker.instanceId.slice(0, 100));
  }
  get apps(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#worker.apps;
  }

  hasFunction(app: string, fn: string): boolean {
    return this.#worker.apps.get(app)?.has(fn) ?? false;
  }

  get hasRoom(): boolean {
    return (
      this.#state === "ready" &&
      this.busy.size < this.#worker.callsMax &&
      this.#socket.unsentBytes < this.#limits.unsentBytesMax / 2
    );
  }

  send(kind: number, payload: Uint8Array = new Uint8Array(0)): void {
    this.#socket.send(frame.encode({ kind, payload }));
  }

  /** Others wait, and nothing was heard: without a farewell, which it might not read either. */
  cut(): void {
    if (this.#state === "closed") return;
    this.#socket.terminate();
    this.#closed(1006, "");
  }

  /** The server stops: the worker looks for another gateway, and finds this one closed. */
  dismiss(reason: string): void {
    if (this.#state === "closed") return;
    this.send(frameKind.gatewayClosing);
    this.#socket.close(1001, reason);
  }

  #take(bytes: Uint8Array): void {
    this.#heardAt = this.#platform.monoMs();
    this.isSilent = false;
    try {
      const { kind, payload } = frame.decode(bytes);
      if (this.#state === "greeting") this.#greeted(kind, payload);
      else if (this.#state !== "closed" && this.#state !== "registering") this.#heard(kind, payload);
    } catch (error) {
      if (!(error instanceof MalformedMessageError)) throw error;
      this.#refuse(`a frame cannot be read: ${error.message}`);
    }
  }

  #greeted(kind: number, payload: Uint8Array): void {
    if (kind !== frameKind.workerConnect) {
      this.#refuse(`expected WORKER_CONNECT (${frameKind.workerConnect}), got kind ${kind}`);
      return;
    }
    const greeting = workerConnect.decode(payload);
    this.#isReadyAtOnce = !greeting.workerManualReadinessAck;
    this.#state = "registering";
    this.#events.admit(greeting).then(
      (admission) => this.#admitted(admission),
      (error) => {
        this.#logger.error("A worker's greeting could not be handled", error);
        this.#refuse("the server failed to take the worker in; its log says why");
      },
    );
  }

  #admitted(admission: Admission): void {
    if (this.#state !== "registering") {
      // It hung up meanwhile, or was too slow. Its registration stays, as for an app that went away.
      return;
    }
    if (admission.kind !== "admitted") {
      if (admission.kind === "invalid") this.send(frameKind.syncFailed, new TextEncoder().encode(admission.why));
      this.#refuse(admission.why);
      return;
    }
    this.#worker = admission.worker;
    this.#state = "connected";
    this.#socket.trust();
    this.#timer.cancel();
    this.#watch();
    this.#events.onAdmitted(this);
    const { heartbeatMs, extendLeaseMs, statusMs } = this.#limits;
    this.send(
      frameKind.gatewayConnectionReady,
      connectionReady.encode({
        heartbeatInterval: `${heartbeatMs}ms`,
        extendLeaseInterval: `${extendLeaseMs}ms`,
        statusInterval: `${statusMs}ms`,
      }),
    );
    if (this.#isReadyAtOnce) this.#ready();
  }

  #heard(kind: number, payload: Uint8Array): void {
    switch (kind) {
      case frameKind.workerHeartbeat:
        this.send(frameKind.gatewayHeartbeat);
        break;
      case frameKind.workerReady:
        this.#ready();
        break;
      case frameKind.workerPause:
        this.#pause();
        break;
      case frameKind.workerRequestAck:
        this.#events.onAck(this, requestAck.decode(payload).requestId);
        break;
      case frameKind.workerRequestExtendLease:
        this.#events.onExtendLease(this, extendLease.decode(payload));
        break;
      case frameKind.workerReply:
        this.#events.onReply(this, sdkResponse.decode(payload));
        break;
      case frameKind.workerStatus: {
        const { inFlightRequestIds, shutdownRequested } = workerStatus.decode(payload);
        if (shutdownRequested) this.#pause();
        this.#events.onStatus(this, new Set(inFlightRequestIds));
        break;
      }
      default:
        // A newer SDK may say more than we know; none of it can be about what we promise.
        this.#logger.debug(`Worker ${this.name} sent a frame of unknown kind ${kind}`);
    }
  }

  /** One that said it stops does not come back: each turn would have the calls that wait looked through again. */
  #ready(): void {
    if (this.#state === "ready" || this.#state === "paused") return;
    this.#state = "ready";
    this.#events.onReady(this);
  }

  #pause(): void {
    if (this.#state === "paused") return;
    this.#state = "paused";
    this.#events.onPause(this);
  }

  /** A peer that is gone without a word leaves its socket open; only its silence shows. */
  #watch(): void {
    const { heartbeatMs, heartbeatsMissedMax } = this.#limits;
    const silentMs = () => this.#platform.monoMs() - this.#heardAt;
    const look = () => {
      // Frames that arrived while this process itself was stopped are read before anybody is called silent.
      this.#platform.soon(() => {
        if (this.#state === "closed") return;
        if (silentMs() < heartbeatMs * heartbeatsMissedMax) {
          this.#watch();
          return;
        }
        this.#logger.warn(`Worker ${this.name} missed ${heartbeatsMissedMax} heartbeats and is disconnected`);
        this.#socket.terminate();
      });
    };
    this.#timer = this.#platform.timer(heartbeatMs, look, { background: true });
  }

  #refuse(why: string): void {
    if (this.#state === "closed") return;
    const who = this.#worker === nobody ? "A worker" : `Worker ${this.name}`;
    this.#logger.warn(`${who} is disconnected: ${why}`);
    // Policy violation: the one code of RFC 6455 for "not you, not like this".
    this.#socket.close(1008, why);
    this.#closed(1008, why);
  }

  #closed(code: number, reason: string): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#timer.cancel();
    if (this.#worker !== nobody) {
      this.#logger.info(
        `Worker ${this.name} disconnected (${code}${reason === "" ? "" : `, ${reason.slice(0, 123)}`})`,
      );
    }
    this.#events.onClose(this);
  }
}
