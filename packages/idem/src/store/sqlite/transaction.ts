// What an operation works with: the handle, the one instant of its commit, and the order of its recordings.
import type { Instant } from "../../model/claim.ts";
import type { ClaimIndex } from "./claim-index.ts";
import type { Connection } from "./connection.ts";
import type { KnownFacts } from "./known-facts.ts";
import type { LaneBook } from "./lane-book.ts";
import type { LeasableFunctions } from "./leasable-functions.ts";

export interface Transaction {
  readonly connection: Connection;
  readonly at: Instant;
  readonly known: KnownFacts;
  readonly claims: ClaimIndex;
  readonly lanes: LaneBook;
  readonly leasable: LeasableFunctions;
  /** Grows with each call: the order of steps, waits and events. */
  stamp(): number;
}
