// A write that hit nothing was either made before, by this very claimant whose answer was lost, or is somebody else's to make.
import type { Operation, Sql } from "../sql/operation.ts";
import { dialectTexts } from "./dialect-texts.ts";
import type { KeyHolder, KeyRecord } from "./key-store.ts";

const text = dialectTexts(
  ({ stand }) => `
  select ${stand} as stood from idempotency_keys
   where id = $1 and owner = $2 and fence = cast($3 as bigint) and state = $4`,
);

export function* isAlready(sql: Sql, { id, owner, fence }: KeyHolder, state: KeyRecord["state"]): Operation<boolean> {
  const { rows } = yield { text: text(sql), params: [id, owner, fence, state], isRead: true };
  return rows.length === 1;
}
