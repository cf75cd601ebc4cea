// A message takes the next place of its channel, in the order of commits (store/channels.ts). Repeat: known by its id as long as it is kept.
import {
  type ChannelRow,
  channelBounds,
  firstPlace,
  floorWithin,
  type Message,
  type MessagePage,
  type PageRoom,
  type Published,
  type PublishInput,
  sizeOf,
} from "../channels.ts";
import type { Database, RuleTransaction } from "./database.ts";
import { insertion } from "./insertion.ts";
import type { Rule } from "./rule.ts";

// A second publisher waits here for the commit of the first, and reads what it left.
const turnSql = `
  insert into channels (env, name, base, floor, last, bytes, at) values (?, ?, ?, ?, ?, 0, ?)
  on conflict (env, name) do update set at = excluded.at
  returning floor, last, bytes`;
const knownSql = "select place from messages where id = ? and env = ? and channel = ?";
const movedSql = "update channels set floor = ?, last = ?, bytes = ? where env = ? and name = ?";
const oldestSql = "select place, size from messages where env = ? and channel = ? order by place limit ?";
const forgetSql = "delete from messages where env = ? and channel = ? and place <= ?";
const newMessages = insertion("messages", {
  env: "text",
  channel: "text",
  place: "bigint",
  id: "text",
  topic: "text",
  size: "bigint",
  at: "bigint",
  body: "text",
});

interface Held {
  readonly floor: number;
  readonly last: number;
  readonly bytes: number;
}

export function* publishMessages(tx: RuleTransaction, { env, channel, messages }: PublishInput): Rule<Published> {
  const name = tx.indexed(channel);
  const { now } = tx.at;
  const first = firstPlace(now);
  const { floor, last, bytes } = (yield* tx.one<Held>(turnSql, env, name, first, first, first, now))!;
  const known = yield* tx.one<{ place: number }>(knownSql, messages[0]!.id, env, name);
  if (known !== undefined) return { place: known.place };
  let total = bytes;
  messages.forEach((message, i) => {
    const size = sizeOf(message);
    total += size;
    tx.add(newMessages, env, name, last + 1 + i, message.id, message.topic, size, now, message.body);
  });
  const moved = { floor, last: last + messages.length, bytes: total };
  const kept = yield* bounded(tx, env, name, moved, messages.length);
  tx.write(movedSql, kept.floor, moved.last, kept.bytes, env, name);
  return { place: last + 1 };
}

/** Messages beyond the bounds go, the oldest first. */
function* bounded(
  tx: RuleTransaction,
  env: string,
  name: string,
  held: Held,
  added: number,
): Rule<{ floor: number; bytes: number }> {
  let kept = { floor: held.floor, bytes: held.bytes };
  const { messagesMax, bytesMax } = channelBounds;
  while (held.last - kept.floor > messagesMax || (kept.bytes > bytesMax && kept.floor < held.last - 1)) {
    const oldest = yield* tx.all<{ place: number; size: number }>(oldestSql, env, name, added + 100);
    const next = floorWithin(oldest, { ...kept, last: held.last });
    if (next.floor === kept.floor) break;
    tx.write(forgetSql, env, name, next.floor);
    kept = next;
  }
  return kept;
}

// ------------------------------------------------------------------------------------------------ reaping

const overdueSql = `
  select env, channel, max(place) as place
    from (select env, channel, place from messages where at < ? order by at limit ?) as found
   group by env, channel order by env, channel`;
const heavySql = `
  select env from channels where bytes > 0 group by env having sum(bytes) > ${channelBounds.environmentBytesMax} order by env`;
const quietestSql =
  "select name as channel, last as place from channels where env = ? and bytes > 0 order by at limit ?";
const takeTurnSql = "update channels set bytes = bytes where env = ? and name = ?";
const sizeUpToSql = "select sum(size) as size from messages where env = ? and channel = ? and place <= ?";
const raisedSql = "update channels set floor = ?, bytes = bytes - ? where env = ? and name = ? and floor < ?";

interface Overdue {
  readonly env: string;
  readonly channel: string;
  readonly place: number;
}

/** Of messages nobody will ask for any more, and of environments that keep too much; at most `max` of each. */
export function* reapMessages(tx: RuleTransaction, max: number): Rule<void> {
  const { now } = tx.at;
  const { keptMs, rowKeptMs } = channelBounds;
  const going = yield* tx.all<Overdue>(overdueSql, now - keptMs, max);
  for (const { env } of yield* tx.all<{ env: string }>(heavySql)) {
    const quietest = yield* tx.all<Omit<Overdue, "env">>(quietestSql, env, Math.min(max, 100));
    going.push(...quietest.map((each) => ({ env, ...each })));
  }
  // In one order, as everybody who has several turns.
  going.sort((a, b) => compare(a.env, b.env) || compare(a.channel, b.channel));
  for (const { env, channel, place } of going) {
    yield* tx.run(takeTurnSql, env, channel);
    const size = Number((yield* tx.one<{ size: number | null }>(sizeUpToSql, env, channel, place))?.size ?? 0);
    tx.write(raisedSql, place, size, env, channel, place);
    tx.write(forgetSql, env, channel, place);
  }
  tx.write(tx.sql.channels.forget, now - rowKeptMs, max);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

// ------------------------------------------------------------------------------------------------ reading

const rowSql = "select base, floor, last from channels where env = ? and name = ?";
// At least one, and from there on no more than fits.
const pageSql = `
  select place, topic, body from (
    select place, topic, body, size, sum(size) over (order by place) as total
      from (select place, topic, body, size from messages where env = ? and channel = ? and place > ? order by place limit ?) as found
  ) as s where total <= ? or total = size order by place`;

/** The row first: what is gone by the time the messages are read is missing from them, and a reader that reads on finds out. */
export function* readMessages(
  db: Database,
  env: string,
  channel: string,
  after: number,
  { limit, bytes }: PageRoom,
): Rule<MessagePage | null> {
  const name = db.indexed(channel);
  const row = yield* db.one<Omit<ChannelRow, "channel">>(rowSql, env, name);
  if (row === undefined) return null;
  const messages = row.last <= after ? [] : yield* db.all<Message>(pageSql, env, name, after, limit, bytes);
  // A message that was published in between belongs to a later page.
  return { ...row, messages: messages.filter(({ place }) => place <= row.last) };
}

export function* readChannels(db: Database, env: string, channels: readonly string[]): Rule<ChannelRow[]> {
  const asked = new Map(channels.map((channel) => [db.indexed(channel), channel]));
  const rows = yield* db.all<ChannelRow>(db.sql.channels.rows, env, db.list([...asked.keys()]));
  return rows.map((row) => ({ ...row, channel: asked.get(row.channel)! }));
}
