// For a tool that plays a program's functions in a world of its own: it takes every client the program constructs. A taken client never opens the
// store it was configured with, whatever the program does while it is being loaded; afterwards it is moved into the world.
import type { FunctionCode } from "../execute/function-code.ts";
import type { Platform } from "../platform/platform.ts";
import type { Store } from "../store/store.ts";
import type { Idem } from "./client.ts";

export interface Taking {
  readonly platform: Platform;
  /** The store of a client until it is moved. */
  readonly scratch: Store;
  take(taken: TakenClient): void;
}

export interface TakenClient {
  readonly client: Idem;
  /** The store it was given: an address, or whatever else. */
  readonly store: unknown;
  /** The app that rows of its functions name. */
  readonly app: string;
  /** Its functions, as they will be registered: the taker may change them before it is moved. */
  readonly codes: FunctionCode[];
  /** From here on the client is one of this store's; what it had begun on the other is abandoned. */
  moveTo(store: Store): void;
  /** From here on the client is one of this server's, which calls its functions where they are served. */
  servedBy(server: string): void;
  /** Throws for an event that its schema refuses. */
  checkEvents(events: readonly unknown[]): Promise<void>;
}

// On the global object: the program may have a copy of this package of its own.
const place = Symbol.for("idem.taking");
type Holder = { [place]?: (() => Taking | null) | undefined };

/** `of` is asked at each construction; null for a client that is not taken. */
export function takeClients(of: (() => Taking | null) | null): void {
  (globalThis as Holder)[place] = of ?? undefined;
}

export const takingClients = (): Taking | null => (globalThis as Holder)[place]?.() ?? null;
