// A PostgreSQL store that another one is being moved into carries a mark until all of it is there. Nobody may open it before: half of
// the windows would be missing.
import { errors } from "../../model/errors.ts";
import { quoted } from "./statement.ts";

export const movingMarkName = "moving-from";

export interface MovingMark {
  /** The move's own id, from its first try to its last. */
  readonly id: string;
  /** The file it comes from. */
  readonly from: string;
  /** Of the file when these tables were copied; null once they must not be gone on from. */
  readonly state: string | null;
  /** Tables that are all here. */
  readonly done: readonly string[];
}

interface Asks {
  query(query: { text: string; values: unknown[] }): Promise<{ rows: unknown[] }>;
}

export async function readMovingMark(client: Asks, schema: string): Promise<MovingMark | null> {
  const { rows } = await client.query({
    text: `select value from ${quoted(schema)}.meta where name = $1`,
    values: [movingMarkName],
  });
  const [row] = rows as { value: string }[];
  return row === undefined ? null : (JSON.parse(row.value) as MovingMark);
}

/** Asked by everyone who opens the store. */
export async function refuseHalfMoved(client: Asks, schema: string, where: string): Promise<void> {
  const mark = await readMovingMark(client, schema);
  if (mark !== null) throw errors.STORE_MOVING({ path: where, from: mark.from });
}
