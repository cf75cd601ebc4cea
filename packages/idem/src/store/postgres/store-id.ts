// Which store this is: a name made once, by which a transaction tells whether it is in the same database.
import type { ClientBase, Pool } from "pg";
import { quoted } from "./statement.ts";

export const storeIdName = "store-id";

/** Repeat: the first name stays. */
export async function nameStore(client: ClientBase | Pool, schema: string): Promise<void> {
  await client.query({
    text: `insert into ${quoted(schema)}.meta (name, value) values ($1, cast(gen_random_uuid() as text)) on conflict do nothing`,
    values: [storeIdName],
  });
}

export async function readStoreId(pool: Pool, schema: string): Promise<string> {
  const find = async (): Promise<string | undefined> => {
    const text = `select value from ${quoted(schema)}.meta where name = $1`;
    return (await pool.query<{ value: string }>({ text, values: [storeIdName] })).rows[0]?.value;
  };
  const known = await find();
  if (known !== undefined) return known;
  await nameStore(pool, schema);
  return (await find())!;
}
