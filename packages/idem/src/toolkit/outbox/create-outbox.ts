// The outbox: messages to others are written in the transaction they are about, and handed on after the commit.

import { type InstantInput, parseDuration, parseInstant } from "../../model/duration.ts";
import { errors } from "../../model/errors.ts";
import { refuseUnknown } from "../../model/known-options.ts";
import { UlidSource } from "../../model/ulid.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform } from "../../platform/platform.ts";
import { leaseMsOf } from "../claim/keep-lease.ts";
import type { Adapter, SyncAdapter } from "../sql/adapter.ts";
import { sqlOf } from "../sql/operation.ts";
import { Dispatcher, type MessageTask } from "./dispatcher.ts";
import { checkKey, keyOfId, messagesOf, type OutboxEvent } from "./message.ts";
import { type DeadMessage, doneKeptMs, dropDead, listDead, reapMessages, reviveDead } from "./messages.ts";
import { type NewMessage, type PutMessage, putMessages } from "./put-message.ts";
import { type EventDestination, relayTask } from "./relay-to-idem.ts";

export interface OutboxOptions {
  readonly platform?: Platform;
  /** Told of what failed in the background, and of every message that dies. `console.error` by default. */
  readonly report?: (what: string, error: unknown) => void;
}

export interface OrderedOutboxOptions extends OutboxOptions {
  /** The messages behind one that died, of the same order key, wait for a person, or go on without it. */
  readonly onDead: "block" | "skip";
}

export interface PutOptions {
  /** A second message of the same topic with this key is not added, until 7 days after the first was handed on. `event.id` by default. */
  readonly dedupKey?: string;
  readonly notBefore?: InstantInput;
}

/** Of an outbox with `onDead`. */
export interface OrderedPutOptions extends PutOptions {
  /** Messages of one key are handed on one after the other, in the order of their transactions. Their senders take turns. */
  readonly orderKey?: string;
}

export interface DispatchOptions {
  /** Messages this process hands on at once. Default 16. */
  readonly concurrency?: number;
  /** Default "30s"; a heartbeat goes out every third of it. */
  readonly lease?: string | number;
  /** A message that fails this often is dead. Default 10. */
  readonly attempts?: number;
  /** Time between two looks for messages of other processes. Default "1s". */
  readonly poll?: string | number;
}

export interface RelayOptions extends DispatchOptions {
  /** Only these; all by default. */
  readonly topics?: readonly string[];
  /** Idem remembers a message's id for this long. Default "7d". */
  readonly window?: string | number;
}

export type Dispatching = Pick<Dispatcher, "nudge" | "idle" | "stop">;

export interface Outbox<Tx, Put = PutOptions> {
  /** Promise: handed on if and only if `tx` commits. Repeat: a dedup key that is taken adds nothing. */
  send(tx: Tx, event: OutboxEvent, options?: Put): Promise<PutMessage>;
  send(tx: Tx, events: readonly OutboxEvent[], options?: Put): Promise<readonly PutMessage[]>;
  /** Hands messages to user code, at least once each; `message.id` is what to give the destination as its key. */
  dispatch(tasks: Readonly<Record<string, MessageTask>>, options?: DispatchOptions): Dispatching;
  /** Sends messages into Idem, each once. */
  relayTo(idem: EventDestination, options?: RelayOptions): Dispatching;
  dead(page?: { readonly limit?: number; readonly after?: string }): Promise<readonly DeadMessage[]>;
  /** A person has it tried again. False: it is not dead. */
  retry(id: string): Promise<boolean>;
  /** A person lets go of it for good. False: it is not dead. */
  drop(id: string): Promise<boolean>;
  /** Deletes at most `limit` rows nobody may ask for again. Dispatchers do so by themselves. */
  reap(limit?: number): Promise<number>;
}

export interface SyncOutbox<Tx, Put = PutOptions> extends Outbox<Tx, Put> {
  /** Inside a body that does not await. */
  sendSync(tx: Tx, event: OutboxEvent, options?: Put): PutMessage;
  sendSync(tx: Tx, events: readonly OutboxEvent[], options?: Put): readonly PutMessage[];
}

const dispatchOptions = { concurrency: true, lease: true, attempts: true, poll: true } as const;

export function createOutbox<Tx>(
  adapter: SyncAdapter<Tx>,
  options: OrderedOutboxOptions,
): SyncOutbox<Tx, OrderedPutOptions>;
export function createOutbox<Tx>(adapter: SyncAdapter<Tx>, options?: OutboxOptions): SyncOutbox<Tx>;
export function createOutbox<Tx>(adapter: Adapter<Tx>, options: OrderedOutboxOptions): Outbox<Tx, OrderedPutOptions>;
export function createOutbox<Tx>(adapter: Adapter<Tx>, options?: OutboxOptions): Outbox<Tx>;
export function createOutbox<Tx>(
  adapter: Adapter<Tx> | SyncAdapter<Tx>,
  options: OutboxOptions & Partial<OrderedOutboxOptions> = {},
): Outbox<Tx, OrderedPutOptions> {
  refuseUnknown<OrderedOutboxOptions>("createOutbox", options, { platform: true, report: true, onDead: true });
  const { platform = nodePlatform, onDead = null } = options;
  if (onDead !== null && onDead !== "block" && onDead !== "skip") throw refuse("onDead", 'it is "block" or "skip"');
  const report = options.report ?? ((what, error) => console.error(`Idem outbox: ${what}`, error));
  const { dialect } = adapter;
  const ids = new UlidSource(
    () => platform.wallMs(),
    (count) => platform.randomBytes(count),
  );
  const dispatchers = new Set<Dispatcher>();

  const newMessages = (events: readonly OutboxEvent[], put: OrderedPutOptions): NewMessage[] => {
    refuseUnknown<OrderedPutOptions>("outbox.send", put, { dedupKey: true, notBefore: true, orderKey: true });
    if (put.orderKey !== undefined && onDead === null) {
      throw refuse("orderKey", "createOutbox was not told onDead: what becomes of the messages behind one that died");
    }
    if (put.dedupKey !== undefined && events.length !== 1) throw refuse("dedupKey", "it is the key of one event");
    const orderKey = put.orderKey === undefined ? null : checkKey(put.orderKey, "orderKey");
    const dedupKey = put.dedupKey === undefined ? null : checkKey(put.dedupKey, "dedupKey");
    return messagesOf(events, platform.wallMs()).map(({ event: { name, callerId }, text }) => ({
      id: ids.next(),
      topic: name,
      text,
      orderKey,
      dedupKey: dedupKey ?? (callerId === null ? null : keyOfId(callerId)),
      onDead: orderKey === null ? null : onDead,
      notBefore: put.notBefore === undefined ? null : parseInstant(put.notBefore, "notBefore"),
    }));
  };
  const listOf = (events: OutboxEvent | readonly OutboxEvent[]): readonly OutboxEvent[] =>
    Array.isArray(events) ? events : [events as OutboxEvent];
  const nudgeSoon = () => {
    for (const dispatcher of dispatchers) dispatcher.nudgeSoon();
  };

  const begin = (topics: readonly string[] | null, taskOf: (topic: string) => MessageTask, asked: DispatchOptions) => {
    const { concurrency = 16, attempts = 10 } = asked;
    if (!(Number.isInteger(concurrency) && concurrency > 0)) throw refuse("concurrency", "it must be 1 or more");
    if (!(Number.isInteger(attempts) && attempts > 0)) throw refuse("attempts", "it must be 1 or more");
    const pollMs = parseDuration(asked.poll ?? "1s", "poll");
    if (pollMs < 10) throw refuse("poll", "it must be at least 10 ms");
    if (topics?.length === 0) throw refuse("topics", "there is none");
    const dispatcher = new Dispatcher({
      adapter,
      platform,
      report,
      topics,
      taskOf,
      concurrency,
      leaseMs: leaseMsOf("outbox", asked.lease ?? "30s"),
      attemptsMax: attempts,
      pollMs,
    });
    dispatchers.add(dispatcher);
    return {
      nudge: () => dispatcher.nudge(),
      idle: () => dispatcher.idle(),
      stop: async () => {
        dispatchers.delete(dispatcher);
        await dispatcher.stop();
      },
    };
  };

  const outbox = {
    send: async (tx: Tx, events: OutboxEvent | readonly OutboxEvent[], put: OrderedPutOptions = {}) => {
      const messages = newMessages(listOf(events), put);
      const answers = await adapter.wrap(tx).perform(putMessages(dialect, messages));
      nudgeSoon();
      return Array.isArray(events) ? answers : answers[0]!;
    },
    sendSync: (tx: Tx, events: OutboxEvent | readonly OutboxEvent[], put: OrderedPutOptions = {}) => {
      const messages = newMessages(listOf(events), put);
      const answers = (adapter as SyncAdapter<Tx>).performSync(tx, putMessages(dialect, messages));
      nudgeSoon();
      return Array.isArray(events) ? answers : answers[0]!;
    },
    dispatch: (tasks: Readonly<Record<string, MessageTask>>, asked: DispatchOptions = {}) => {
      refuseUnknown<DispatchOptions>("outbox.dispatch", asked, dispatchOptions);
      return begin(Object.keys(tasks), (topic) => tasks[topic]!, asked);
    },
    relayTo: (idem: EventDestination, asked: RelayOptions = {}) => {
      refuseUnknown<RelayOptions>("outbox.relayTo", asked, { ...dispatchOptions, topics: true, window: true });
      const task = relayTask(idem, parseDuration(asked.window ?? doneKeptMs, "window"));
      return begin(asked.topics ?? null, () => task, asked);
    },
    dead: ({ limit = 100, after }: { limit?: number; after?: string } = {}) =>
      adapter.perform(listDead({ limit, after: after ?? null })),
    retry: (id: string) => adapter.perform(reviveDead(sqlOf(dialect), id)),
    drop: (id: string) => adapter.perform(dropDead(sqlOf(dialect), id)),
    reap: (limit = 1_000) => adapter.perform(reapMessages(sqlOf(dialect), limit)),
  };
  return outbox as Outbox<Tx, OrderedPutOptions>;
}

const refuse = (option: string, why: string) => errors.TOOLKIT_OPTION_INVALID({ call: "outbox", option, why });
