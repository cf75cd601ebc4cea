// The tools of a client for Idem's own parts, not for users: kept under a symbol, so that nothing offers them beside `send` and `runs`.
import type { BulkOrder } from "../engine/bulk/act-on-runs.ts";
import type { BulkPart } from "../engine/bulk/bulk-part.ts";
import type { RunSelection } from "../engine/bulk/select-runs.ts";
import type { ResumedPart } from "../engine/resume-function.ts";
import type { Store } from "../store/store.ts";
import type { EventToSend, Untyped } from "./event-types.ts";
import type { Tell } from "./explain-api.ts";
import type { ResumePartOptions } from "./functions-api.ts";
import type { EventsApi } from "./reads-api.ts";
import type { ServedClient } from "./remote-client.ts";
import type { SendResult } from "./send-result.ts";

/** One for all copies of the package that a process has loaded. */
export const inside: unique symbol = Symbol.for("idem.inside");

export interface Inside {
  /** For the command line: as `explain`, of any id, key or value. */
  readonly tell: Tell;
  /** For the toolkit's webhooks. At a server it takes a signing key: an event key is not enough to speak for a provider. */
  readonly deliveries: Deliveries;
  /** For the owner's desk, which has to answer soon: as `functions.resume`, a bounded number of events at a time. */
  resumePart(id: string, options: ResumePartOptions): Promise<ResumedPart>;
  /** For the same desk: one act on a page of the runs that fit. */
  bulkPart(order: BulkOrder, selection: RunSelection, before: string | null): Promise<BulkPart>;
  /**
   * For `serve`: the functions of this client and the server that calls them, where `idem dev` listens by default. From here on
   * what the client sends goes there too.
   */
  serving(): ServedClient;
  /** For `engineKeys`: the store this client opens, beside its events and runs. A client whose store is at a server has none to give. */
  keeping(): KeepingClient;
}

/** Stores a provider's deliveries, once their signature was checked: under ids that no other sender can take. */
export interface Deliveries {
  send(
    event: EventToSend<Untyped> | readonly EventToSend<Untyped>[],
    options: {
      readonly window: string | number;
      /** At a server, other senders may send under the names of these deliveries. */
      readonly isShared?: boolean | undefined;
    },
  ): Promise<SendResult>;
  /** By the stored id, or by the delivery's own; an event of another sender under that id is not found. */
  get: EventsApi["get"];
}

/** The store and environment of the toolkit's own facts. */
export interface KeepingClient {
  readonly env: string;
  /** Opened when it is first needed, and again after a stop. */
  store(): Promise<Store>;
}
