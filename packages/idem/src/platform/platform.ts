// The one way to time, chance, threads, network and files. Everything else in this package receives a Platform,
// so that a seeded simulator can run many nodes in one process and crash them anywhere.

import type { OpenTelemetry } from "./open-telemetry.ts";

/** Named instants around a commit. In production a point does nothing; a test may end the process there. */
export type CrashPoint =
  | "ingest:before-commit"
  | "ingest:after-commit"
  | "lease:after-commit"
  | "step:before-attempt"
  | "step:before-commit"
  | "step:after-commit"
  | "suspend:before-commit"
  | "suspend:after-commit"
  | "finish:before-commit"
  | "finish:after-commit"
  | "deliver:before-commit"
  | "deliver:after-commit"
  | "rescue:after-commit";

export interface Timer {
  cancel(): void;
}

export interface HttpRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | null;
  /** The answer's body may have at most this many bytes. */
  bodyBytesMax: number;
  signal: AbortSignal;
}

export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** A thread that takes and gives structured-clone messages. */
export interface Thread {
  post(message: unknown): void;
  /** The type of what it posts is between the two files. */
  onMessage<Message>(take: (message: Message) => void): void;
  /** Called once when the thread ends, with the reason when it ended by itself. */
  onEnd(take: (error: Error | null) => void): void;
  terminate(): Promise<void>;
  /** Whether this thread keeps the process alive. */
  ref(keepAlive: boolean): void;
}

/** A connection between two processes of this machine. */
export interface LocalConnection {
  write(text: string): void;
  onText(take: (text: string) => void): void;
  onClose(take: () => void): void;
  close(): void;
}

/** The way for other processes of this machine to the one that has a file open. Never the network. */
export interface LocalSockets {
  /** Only the owner of the file may listen: a socket left behind by a dead one is replaced. Keeps no process alive. */
  listen(file: string, onConnection: (connection: LocalConnection) => void): Promise<{ close(): Promise<void> }>;
  /** Null when nobody listens. */
  connect(file: string): Promise<LocalConnection | null>;
}

/** The event loop's lateness since it was last asked. */
export interface LoopWatch {
  read(): { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number };
  stop(): void;
}

export interface Platform {
  /** Wall clock, may jump either way. */
  wallMs(): number;
  /** Monotonic clock, never jumps. */
  monoMs(): number;
  /** Fills with random bytes; ids are made from it. */
  randomBytes(count: number): Uint8Array;
  /**
   * Calls back after at least `ms`, of any length. A manual clock does not stop for housekeeping (`background`). A pending
   * timer keeps a process alive: a started client runs until it is stopped.
   */
  timer(ms: number, run: () => void, options?: { background: boolean }): Timer;
  /** Calls back once the current turn and its promises are done. */
  soon(run: () => void): void;
  fetch(request: HttpRequest): Promise<HttpResponse>;
  /** Starts one of Idem's own thread files, named relative to the package's source folder without its ending. */
  startThread(file: string, input: unknown): Thread;
  /** Absent on a machine that is only simulated. */
  readonly local?: LocalSockets;
  /** Begins to watch how late the event loop comes to its work; absent where time is not real. */
  watchLoop?(): LoopWatch;
  /** The OpenTelemetry that is registered now; absent where time and chance are not real, because its spans have theirs from the machine. */
  openTelemetry?(): OpenTelemetry | undefined;
  /** A crash point: may never return in a test. */
  point(name: CrashPoint): void | Promise<void>;
}
