// A transaction of SQLite that was begun as a reader, as drivers do that know only `begin`, made the writer before its body reads: a reader that
// turns writer half-way is refused when somebody else wrote meanwhile, and would have to begin again.
import type { TransactionOptions } from "./adapter.ts";

/** Changes nothing, and takes the writer's place. */
const writeNothingSql = "update idem_toolkit set version = version where name is null";

export async function asWriter<T>(
  ask: (text: string) => Promise<{ readonly rows: readonly unknown[] }>,
  body: () => T | Promise<T>,
  { lockTimeoutMs }: TransactionOptions = {},
): Promise<T> {
  if (lockTimeoutMs === undefined) {
    await writeNothing(ask);
    return body();
  }
  // It is the connection's, and stays when the transaction ends.
  const [before] = (await ask("pragma busy_timeout")).rows as { timeout: number }[];
  await ask(`pragma busy_timeout = ${Math.max(1, Math.round(lockTimeoutMs))}`);
  try {
    await writeNothing(ask);
    return await body();
  } finally {
    await ask(`pragma busy_timeout = ${before!.timeout}`);
  }
}

async function writeNothing(ask: (text: string) => Promise<unknown>): Promise<void> {
  try {
    await ask(writeNothingSql);
  } catch (error) {
    // Before the toolkit's tables were made; then the first statement that writes is what makes it the writer.
    if (!/no such table/.test(String((error as { message?: unknown }).message))) throw error;
  }
}
