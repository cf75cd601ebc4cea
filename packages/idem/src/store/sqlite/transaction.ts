// A transaction as operations have it: the handle, the one instant of its commit, and the order of its recordings.
import type { RuleTransaction } from "../rules/database.ts";
import type { ClaimIndex } from "./claim-index.ts";
import type { Connection } from "./connection.ts";
import type { KnownFacts } from "./known-facts.ts";
import type { LaneBook } from "./lane-book.ts";
import type { LeasableFunctions } from "./leasable-functions.ts";

export interface Transaction extends RuleTransaction {
  readonly connection: Connection;
  readonly known: KnownFacts;
  readonly claims: ClaimIndex;
  readonly lanes: LaneBook;
  readonly leasable: LeasableFunctions;
  readonly endMark: number;
  /** The clock of the machine, for how long something takes. */
  monoMs(): number;
  undoEnds(mark: number): void;
}
