// From an instant to the ids of that time: ids are ULIDs, so a range of time is a range of ids and needs no index of its own.
import { makeUlid } from "../model/ulid.ts";

// Ids carry the sender's clock, rows the store's: the search begins this much earlier and the row's own time decides.
const clockSlackMs = 60 * 60 * 1_000;

const idAt = (ms: number): string => makeUlid(Math.min(Math.max(0, Math.floor(ms)), 2 ** 48 - 1), new Uint8Array(10));

/** The least id of an instant, by the clock that ids carry. */
export const leastIdAt = (ms: number): string => idAt(ms);

/** No row of this instant or later has a smaller id. */
export const firstIdAt = (ms: number): string => idAt(ms - clockSlackMs);

/** No row from before this instant has a greater id. */
export const lastIdBefore = (ms: number): string => idAt(ms + clockSlackMs);

/** After every id. */
export const afterAll = "~";
