// Where deliveries are kept. Two storages stand behind it: the engine's store, where a delivery is an event that starts runs, and a database
// of the user's, where it is a row that a processor takes up.
import type { Received } from "./webhook-event.ts";

export type Kept =
  /** It is durable, and so is that it will be processed. */
  | { readonly kind: "fresh" }
  | {
      readonly kind: "duplicate";
      /** The same id with another body: the first one stays. */
      readonly isConflicting: boolean;
    }
  | { readonly kind: "quarantined"; readonly why: string }
  /** The author's transform wants none of it. */
  | { readonly kind: "ignored" }
  /** More than the storage can ever take. */
  | { readonly kind: "too-large" };

export interface WebhookStorage {
  /** Promise: once it resolves, what it says is durable. Repeat: `duplicate`. */
  keep(received: Received): Promise<Kept>;
}
