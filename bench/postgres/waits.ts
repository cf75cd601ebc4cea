// The waits of a database's sessions, looked at every 50 ms: the mean number of sessions in each state. Idle ones do not count;
// those without a wait event are on a processor, or want to be.
import type { BenchServer } from "./server.ts";

const everyMs = 50;

const sampleSql = `
  select case when state = 'idle in transaction' then 'in a transaction, waits for the client'
              when wait_event is null then 'on a processor'
              else wait_event_type || ': ' || wait_event end as what,
         count(*)::int as count
    from pg_stat_activity
   where datname = $1 and backend_type = 'client backend' and state <> 'idle'
   group by 1`;

export type Waits = Readonly<Record<string, number>>;

/** Samples until the answer is called, which gives the means, most first. */
export function sampleWaits({ admin }: BenchServer, database: string): () => Promise<Waits> {
  const sums = new Map<string, number>();
  let samples = 0;
  let isOver = false;
  const sampling = (async () => {
    for (let next = performance.now(); !isOver; next += everyMs) {
      const { rows } = await admin.query<{ what: string; count: number }>(sampleSql, [database]);
      samples++;
      for (const { what, count } of rows) sums.set(what, (sums.get(what) ?? 0) + count);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, next + everyMs - performance.now())));
    }
  })();
  return async () => {
    isOver = true;
    await sampling;
    const means = [...sums].map(([what, sum]) => [what, sum / samples] as const);
    return Object.fromEntries(means.sort(([, a], [, b]) => b - a).filter(([, mean]) => mean >= 0.005));
  };
}
