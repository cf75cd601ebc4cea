// For tests: a gateway whose time moves only on request, and workers that do only what they are asked, over sockets of memory.
import type { RemoteCall, RemoteReply } from "../../execute/remote.ts";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import {
  executorRequest,
  extendLease,
  extendLeaseAck,
  frame,
  frameKind,
  requestAck,
  sdkResponse,
  sdkStatus,
  startResponse,
  workerConnect,
  workerStatus,
} from "../../protocol/connect-messages.ts";
import type { MessageValue } from "../../protocol/protobuf-message.ts";
import { traceparentOf } from "../../protocol/traceparent.ts";
import type { AppRegistration } from "../apps.ts";
import { Tokens } from "../tokens.ts";
import type { ConnectLimits } from "./connect-limits.ts";
import { ConnectGateway, type ConnectGatewayOptions } from "./connect-remote.ts";
import type { WorkerSocket } from "./worker-socket.ts";

type Greeting = Partial<MessageValue<typeof workerConnect>>;
type Sent = MessageValue<typeof executorRequest>;

interface WorkerOptions extends Omit<Greeting, "apps"> {
  readonly env?: string;
  /** Ids of functions by app. */
  readonly apps?: Readonly<Record<string, readonly string[]>>;
  readonly ready?: boolean;
}

export function fakeGateway(
  limits: Partial<ConnectLimits> = {},
  beside: Pick<ConnectGatewayOptions, "onWorkers" | "elsewhere"> = {},
) {
  const platform = new ManualPlatform();
  const log: string[] = [];
  const write = (...parts: unknown[]) => void log.push(parts.map(String).join(" "));
  const logger = { debug: write, info: write, warn: write, error: write };
  const gateway = new ConnectGateway({ platform, logger, limits, ...beside });
  /** Whatever promises were waiting for has happened. */
  const turn = async () => {
    for (let i = 0; i < 5; i++) await new Promise<void>((resolve) => platform.soon(resolve));
  };
  const registered: { env: string; registration: AppRegistration }[] = [];
  const refused: { env: string; app: string; error: string }[] = [];
  const world = {
    tokens: new Tokens({ signingKeyOf: () => null, signingKeysOf: () => [] }, platform),
    apps: {
      register: async (env: string, registration: AppRegistration) => {
        registered.push({ env, registration });
        return { modified: true };
      },
      noteWorkerFailure: (env: string, app: string, error: string) => void refused.push({ env, app, error }),
    },
  };
  let callCount = 0;

  /** Opens a socket and says nothing. */
  function open(origin: { readonly address?: string; readonly expectedAs?: string } = {}): FakeWorker {
    const worker = new FakeWorker();
    gateway.accept(worker.socket, world, { address: "127.0.0.1", expectedAs: null, ...origin });
    return worker;
  }

  const token = (env = "default") => startResponse.decode(gateway.start(env, "ws://127.0.0.1:1/connect", world));

  /** A worker that has been taken in. */
  async function worker(options: WorkerOptions = {}): Promise<FakeWorker> {
    const { env = "default", apps = { shop: ["pay"] }, ready = true, ...greeting } = options;
    const { connectionId, sessionToken } = await token(env);
    const worker = open();
    worker.greet({
      connectionId,
      authData: { sessionToken, syncToken: "" },
      apps: Object.entries(apps).map(([app, ids]) => workerApp(app, ids)),
      ...greeting,
    });
    await worker.greeted;
    if (ready) worker.say(frameKind.workerReady);
    return worker;
  }

  return {
    gateway,
    world,
    registered,
    refused,
    log,
    platform,
    open,
    token,
    worker,
    settle: turn,
    advance: (ms: number) => platform.advance(ms, turn),

    /** A call for `shop-pay`, and what became of it. */
    call(part: Partial<RemoteCall> & { env?: string; app?: string } = {}) {
      const { env = "default", app = "shop", ...rest } = part;
      const requestId = `call-${++callCount}`;
      const call: RemoteCall = {
        fn: "shop-pay",
        runId: "run-1",
        stepId: "step",
        planOnly: false,
        body: '{"ctx":{}}',
        requestId,
        generation: 1,
        jobId: "job-1",
        traceparent: traceparentOf({ runId: "run-1", requestId }),
        signal: new AbortController().signal,
        ...rest,
      };
      const made: { requestId: string; reply: RemoteReply | null; error: Error | null } = {
        requestId: call.requestId,
        reply: null,
        error: null,
      };
      gateway
        .remoteFor(env, app)
        .call(call)
        .then(
          (reply) => {
            made.reply = reply;
          },
          (error) => {
            made.error = error;
          },
        );
      return made;
    },
  };
}

export function workerApp(app: string, ids: readonly string[]) {
  const functions = ids.map((id) => ({
    id: `${app}-${id}`,
    name: id,
    triggers: [{ event: `${app}/${id}` }],
    // The companion for failures comes so: a socket's URL that is said to be http.
    steps: { step: { id: "step", name: "step", runtime: { type: "http", url: `wss://connect/?fnId=${app}-${id}` } } },
  }));
  return { appName: app, appVersion: null, functions: Buffer.from(JSON.stringify(functions)) };
}

export class FakeWorker {
  readonly received: MessageValue<typeof frame>[] = [];
  closed: { code: number; reason: string } | null = null;
  isTrusted = false;
  unsentBytes = 0;
  /** Bytes of a greeting that is not whole yet. */
  sendsPartly: (count: number) => void = () => {};
  /** Resolves with the gateway's first word after its hello, be it a no: tokens are checked outside of the event loop. */
  readonly greeted: Promise<void>;
  #hasAnswer: () => void = () => {};
  #take: (bytes: Uint8Array) => void = () => {};
  #onClose: (code: number, reason: string) => void = () => {};

  readonly socket: WorkerSocket = ((worker: FakeWorker) => ({
    send: (bytes) => {
      if (worker.closed !== null) return;
      if (worker.received.push(frame.decode(bytes)) > 1) worker.#hasAnswer();
    },
    close: (code, reason) => worker.hangUp(code, reason),
    terminate: () => worker.hangUp(1006, ""),
    get unsentBytes() {
      return worker.unsentBytes;
    },
    onMessage: (take) => {
      worker.#take = take;
    },
    onClose: (take) => {
      worker.#onClose = take;
    },
    trust: () => {
      worker.isTrusted = true;
    },
    onGreetingBytes: (take) => {
      worker.sendsPartly = take;
    },
  }))(this);

  constructor() {
    this.greeted = new Promise((resolve) => {
      this.#hasAnswer = resolve;
    });
  }

  hangUp(code = 1006, reason = ""): void {
    if (this.closed !== null) return;
    this.closed = { code, reason };
    this.#hasAnswer();
    this.#onClose(code, reason);
  }

  sayBytes(bytes: Uint8Array): void {
    this.#take(bytes);
  }

  say(kind: number, payload: Uint8Array = new Uint8Array(0)): void {
    this.sayBytes(frame.encode({ kind, payload }));
  }

  greet(greeting: Greeting): void {
    this.say(
      frameKind.workerConnect,
      workerConnect.encode({
        workerManualReadinessAck: true,
        instanceId: "host-1",
        sdkVersion: "v4.24.0",
        sdkLanguage: "typescript",
        framework: "connect",
        ...greeting,
      }),
    );
  }

  get kinds(): number[] {
    return this.received.map(({ kind }) => kind);
  }

  /** The calls it was sent so far. */
  get calls(): Sent[] {
    return this.received
      .filter(({ kind }) => kind === frameKind.gatewayExecutorRequest)
      .map(({ payload }) => executorRequest.decode(payload));
  }

  ack(requestId: string): void {
    this.say(frameKind.workerRequestAck, requestAck.encode({ requestId }));
  }

  /** The gateway's answer: the new lease, or null. */
  extend(requestId: string, leaseId: string): string | null {
    this.say(frameKind.workerRequestExtendLease, FakeWorker.extension(requestId, leaseId));
    return FakeWorker.newLease(this);
  }

  static extension(requestId: string, leaseId: string): Uint8Array {
    return extendLease.encode({ requestId, leaseId });
  }

  static newLease({ received }: FakeWorker): string | null {
    const { kind, payload } = received.at(-1)!;
    if (kind !== frameKind.workerRequestExtendLeaseAck) throw new Error(`the gateway answered with kind ${kind}`);
    return extendLeaseAck.decode(payload).newLeaseId;
  }

  reply(requestId: string, body = '"ok"'): void {
    this.say(frameKind.workerReply, FakeWorker.response(requestId, body));
  }

  static response(requestId: string, body = '"ok"'): Uint8Array {
    return sdkResponse.encode({
      requestId,
      status: sdkStatus.done,
      body: Buffer.from(body),
      sdkVersion: "inngest-js:v4.24.0",
      requestVersion: 2,
    });
  }

  status(inFlightRequestIds: readonly string[], shutdownRequested = false): void {
    this.say(frameKind.workerStatus, workerStatus.encode({ inFlightRequestIds, shutdownRequested }));
  }
}
