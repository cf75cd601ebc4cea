// The way to code that lives in another process. A transport (HTTP, a worker's WebSocket) carries one call and brings back
// the answer as it came; what is in them is read and written in protocol/.
import type { SerializedError } from "../model/user-errors.ts";

export interface RemoteCall {
  readonly fn: string;
  readonly runId: string;
  /** "step" asks for whatever comes next; a step's hash asks for that step alone. */
  readonly stepId: string;
  /** Steps that are found are to be reported and not run; it stands in the body too. */
  readonly planOnly: boolean;
  /** JSON text. A transport that signs puts it into canonical form first. */
  readonly body: string;
  /** New for every call. */
  readonly requestId: string;
  /** The fence of the lease this call is made under: what an older call still says is recognised by it. */
  readonly generation: number;
  /** The same for every call of one run. */
  readonly jobId: string;
  /** Its span in its trace, by the W3C's header. */
  readonly traceparent: string;
  /** Aborts when the answer is no longer needed. */
  readonly signal: AbortSignal;
}

export interface RemoteReply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Remote {
  /** Rejects with AppUnreachableError when the app's code was surely not asked, or its answer got lost. */
  call(call: RemoteCall): Promise<RemoteReply>;
}

/** An error of the app's code, as it was reported. */
export class RemoteError extends Error {
  override readonly name: string;
  readonly code?: string;
  constructor(
    failure: SerializedError,
    /** The app said that trying again cannot help. */
    readonly isFinal: boolean,
    /** When the app wants to be asked again, as in the HTTP header. */
    readonly retryAfter: string | null,
  ) {
    super(failure.message, failure.cause === undefined ? undefined : { cause: failure.cause });
    this.name = failure.name;
    if (failure.stack === undefined) delete this.stack;
    else this.stack = failure.stack;
    if (failure.code !== undefined) this.code = failure.code;
  }
}

/** The app could not be asked, or died before it answered. No attempt of its author's code is spent on it. */
export class AppUnreachableError extends Error {
  override readonly name = "AppUnreachableError";
  constructor(message: string) {
    super(message);
    // It is shown to the app's author, to whom our own frames say nothing.
    delete this.stack;
  }
}
