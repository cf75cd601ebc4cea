// The note that `idem migrate-store` leaves in a file whose facts live elsewhere now. A process that opened it all the same would accept
// what the other store has accepted already: every window would be open twice.
import { errors, type IdemError } from "../../model/errors.ts";
import type { Connection } from "./connection.ts";

export const movedNoteName = "moved-to";

export interface MovedNote {
  /** The other store's address, without its password. */
  readonly to: string;
  readonly at: number;
}

const readNoteSql = "select value from meta where name = 'moved-to'";

export function readMovedNote(connection: Connection): MovedNote | null {
  const row = connection.one<{ value: string }>(readNoteSql);
  return row === undefined ? null : (JSON.parse(row.value) as MovedNote);
}

export const movedError = (path: string, { to, at }: MovedNote): IdemError =>
  errors.STORE_MOVED({ path, to, at: new Date(at).toISOString() });

export function refuseMoved(connection: Connection): void {
  const note = readMovedNote(connection);
  if (note !== null) throw movedError(connection.path, note);
}
