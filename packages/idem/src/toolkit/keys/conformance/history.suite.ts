// The life of a few records under random claims, heartbeats, points, completions, leaves, releases, reaping and passing time, from several
// sessions at once. Triggers write down what became of the rows, in the order in which the database did it; the checker compares that with
// each session's answers: one owner per fence, fences only grow, nobody wrote with an old one, and an outcome stays until its window ends.
import { ManualPlatform } from "../../../platform/manual-platform.ts";
import type { TestDatabase } from "../../sql/databases.suite.ts";
import { sqlOf } from "../../sql/operation.ts";
import type { KeyAnswer, KeyHolder } from "../key-store.ts";
import { sqlKeys } from "../sql-keys.ts";
import { asking } from "./world.ts";

const leaseMs = 10_000;
const windowMs = 60_000;
const names = ["a", "b", "c"];

/** One call of a session: when it began and ended, by a count that all sessions share, and its answer. */
export interface Call {
  readonly name: string;
  readonly id: string;
  readonly beganAt: number;
  readonly endedAt: number;
  readonly owner: string;
  readonly fence: number;
  /** For a completion to record. */
  readonly reference: string;
  readonly told: KeyAnswer | "held" | "lost";
}

export async function recordHistory(
  db: TestDatabase,
  { seed, sessions, callsEach }: { readonly seed: number; readonly sessions: number; readonly callsEach: number },
): Promise<readonly Call[]> {
  await db.run(auditSql(db));
  const chance = new ManualPlatform({ seed });
  const below = (n: number): number =>
    Math.floor((new DataView(chance.randomBytes(4).buffer).getUint32(0) / 2 ** 32) * n);
  const calls: Call[] = [];
  let count = 0;
  // One after the other: each writes every row, and two of them would wait for each other.
  let passing = Promise.resolve();
  const pass = (ms: number): Promise<void> => {
    passing = passing.then(() => db.age("idempotency_keys", ms));
    return passing;
  };
  const session = async (): Promise<void> => {
    const keys = sqlKeys(db.another(), { deadline: "30s" });
    const holders: KeyHolder[] = [];
    const told = async (
      name: string,
      { id, owner, fence }: KeyHolder,
      call: (reference: string) => Promise<Call["told"]>,
    ): Promise<Call["told"]> => {
      const beganAt = count++;
      const reference = `${name} ${beganAt}`;
      const answer = await call(reference);
      const freshFence = typeof answer === "object" && answer.kind === "fresh" ? answer.fence : fence;
      calls.push({ name, id, beganAt, endedAt: count++, owner, fence: freshFence, reference, told: answer });
      return answer;
    };
    for (let i = 0; i < callsEach; i++) {
      const choice = below(100);
      // Mostly the newest, which may hold; sometimes one that was overtaken long ago.
      const holder = holders[below(3) > 0 ? holders.length - 1 : below(holders.length)];
      if (choice < 8) await pass([1_000, leaseMs, leaseMs, windowMs][below(4)]!);
      else if (choice < 14) await keys.reap(1 + below(2));
      else if (choice < 45 || holder === undefined) {
        const onCrash = below(2) === 0 ? "resume" : "rerun";
        const ask = asking(names[below(names.length)]!, { leaseMs, windowMs, onCrash });
        const answer = await told("claim", { ...ask, fence: 0 }, () => keys.claim(ask));
        if (typeof answer === "object" && answer.kind === "fresh") holders.push({ ...ask, fence: answer.fence });
      } else if (choice < 60) await told("heartbeat", holder, () => keys.heartbeat(holder, leaseMs));
      else if (choice < 68) await told("reach", holder, () => keys.reach(holder, { name: "p", data: "1" }, leaseMs));
      else if (choice < 84) {
        await told("complete", holder, (reference) =>
          keys.complete(holder, { kind: "reference", status: 200, headers: [], reference }, windowMs),
        );
      } else if (choice < 92) await told("leave", holder, () => keys.leave(holder, 0));
      else await told("release", holder, () => keys.release(holder));
    }
  };
  await Promise.all(Array.from({ length: sessions }, session));
  return calls;
}

const columns = ["owner", "fence", "state", "lease_until", "ends_at", "reference", "point"] as const;

/** `before` and `after` are JSON of the columns above, or null. */
function auditSql({ dialect }: TestDatabase): string {
  const { now } = sqlOf(dialect);
  if (dialect === "postgres") {
    const json = (row: string) =>
      `json_build_object(${columns.map((column) => `'${column}', ${row}.${column}`).join(", ")})`;
    return `
      create table written (place bigserial primary key, id text, at bigint, before json, after json);
      create function note_writing() returns trigger language plpgsql as $note$ begin
        insert into written (id, at, before, after) values (
          case when tg_op = 'DELETE' then old.id else new.id end, ${now},
          case when tg_op = 'INSERT' then null else ${json("old")} end,
          case when tg_op = 'DELETE' then null else ${json("new")} end);
        return null;
      end $note$;
      create trigger note_writing after insert or update or delete on idempotency_keys for each row execute function note_writing()`;
  }
  const json = (row: string) => `json_object(${columns.map((column) => `'${column}', ${row}.${column}`).join(", ")})`;
  const trigger = (event: string, id: string, before: string, after: string) => `
    create trigger note_${event} after ${event} on idempotency_keys begin
      insert into written (id, at, before, after) values (${id}, ${now}, ${before}, ${after});
    end;`;
  return `
    create table written (place integer primary key, id text, at integer, before text, after text);
    ${trigger("insert", "new.id", "null", json("new"))}
    ${trigger("update", "new.id", json("old"), json("new"))}
    ${trigger("delete", "old.id", json("old"), "null")}`;
}

export interface WrittenRow {
  readonly owner: string;
  readonly fence: number;
  readonly state: string;
  readonly lease_until: number;
  readonly ends_at: number;
  readonly reference: string | null;
  readonly point: string | null;
}

/** One write of a row, as the database made it. */
export interface Writing {
  readonly place: number;
  readonly id: string;
  readonly at: number;
  readonly before: WrittenRow | null;
  readonly after: WrittenRow | null;
}

export async function writingsOf(db: TestDatabase): Promise<readonly Writing[]> {
  const parsed = (value: unknown): WrittenRow | null =>
    (typeof value === "string" ? JSON.parse(value) : value) as WrittenRow | null;
  const rows = await db.rows("select place, id, at, before, after from written order by place");
  return rows.map(({ place, id, at, before, after }) => ({
    place: Number(place),
    id,
    at: Number(at),
    before: parsed(before),
    after: parsed(after),
  }));
}
