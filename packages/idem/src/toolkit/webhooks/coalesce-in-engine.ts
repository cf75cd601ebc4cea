// Coalescing on the engine: raw events are events under their own ids, a batch gathers those of one key (its first event opens it, its timeout or
// the expected number flushes it, in one commit with the run), and that run sends the logical event. A duplicate fills no batch; a crash
// anywhere leaves rows that go on by themselves.
import { batchSizeMax } from "../../flow/batch/config.ts";
import type { Idem } from "../../sdk/client.ts";
import { type Coalescing, type Merged, mergedOf } from "./coalesce.ts";
import { dataOf, quarantine } from "./keep-in-engine.ts";
import { type Sender, type SendingClient, sendOnce, unsendable } from "./send-once.ts";
import type { Kept, WebhookStorage } from "./storage.ts";
import type { WebhookEvent } from "./webhook-event.ts";

export interface CoalesceInEngine extends Sender {
  readonly idem: Idem;
  readonly source: string;
  readonly coalesce: Coalescing;
}

/** A raw event on its way to the batch. */
interface Raw {
  readonly coalesce: string;
  readonly key: string;
  readonly lateMs: number;
  readonly id: string;
  readonly type: string;
  readonly changed: readonly string[];
  readonly subject: string | null;
  readonly payload: object;
}

/** The data of a logical event. */
export interface LogicalData extends Merged {
  /** The business key, as JSON. */
  readonly key: string;
  readonly subject: string | null;
  /** The ids of the raw events it carries, in the order they came; the first opened the window. */
  readonly carries: readonly string[];
  /** By the store's clock. */
  readonly openedAt: number;
  /** The newest one's. */
  readonly payload: object;
}

export type Delivered =
  | { readonly kind: "delivered"; readonly logicalId: string }
  | { readonly kind: "absorbed"; readonly logicalId: string };

/** The event under which raw deliveries of a coalesced source are kept. */
export const rawName = (source: string): string => `${source}/received`;

export function coalesceInEngine(options: CoalesceInEngine): WebhookStorage {
  defineCoalescer(options);
  const { source } = options;
  return {
    async keep(received): Promise<Kept> {
      const { event } = received;
      if (event === null) return quarantine(options, source, received, received.why ?? "it cannot be read");
      let raw: ReturnType<typeof rawEvent>;
      try {
        raw = rawEvent(options, event);
      } catch (error) {
        // The author's key could not be computed: no retry of the provider's changes that.
        return quarantine(options, source, received, error instanceof Error ? error.message : String(error));
      }
      try {
        return await sendOnce(options, raw);
      } catch (error) {
        const why = unsendable(error);
        if (why === null) throw error;
        return quarantine(options, source, received, why);
      }
    },
  };
}

export function rawEvent({ source, coalesce }: Pick<CoalesceInEngine, "source" | "coalesce">, event: WebhookEvent) {
  const { text, hash } = coalesce.keyOf(event);
  const data: Raw = {
    coalesce: hash,
    key: text,
    lateMs: coalesce.lateMsOf(event),
    id: event.id,
    type: event.type,
    changed: event.changed,
    subject: event.subject,
    payload: dataOf(event),
  };
  return { id: `${source}:${event.id}`, name: rawName(source), data, ts: event.at };
}

/** The run's output says for each raw event which logical one carried it. */
export function defineCoalescer(options: CoalesceInEngine): void {
  const { idem, source, coalesce } = options;
  idem.createFunction(
    {
      id: `coalesce-${source.replaceAll("/", "-").toLowerCase()}`,
      // Without a number to expect, it takes as many as there can be.
      batchEvents: {
        maxSize: coalesce.expects ?? batchSizeMax,
        timeout: coalesce.windowMs,
        key: "event.data.coalesce",
      },
      // One key's windows are delivered one after the other.
      concurrency: { limit: 1, key: "event.data.coalesce" },
      retries: 20,
    },
    { event: rawName(source) },
    async ({ events, step }) =>
      step.run("deliver", () => deliver(options, events as readonly { readonly id: string; readonly data: Raw }[])),
  );
}

/**
 * Sends the logical event, or finds what it adds nothing to. Entered again after a crash it finds its own.
 *
 * A key's logical events are numbered within a stretch of time as long as a late twin may take, under ids that stay taken for longer: looking
 * through this stretch and the one before finds every window that may still absorb, without a row that somebody would have to keep.
 */
async function deliver(
  options: CoalesceInEngine,
  events: readonly { readonly id: string; readonly data: Raw }[],
): Promise<Delivered> {
  const { idem, deliveries, source, coalesce } = options;
  const [first] = events as readonly [(typeof events)[number]];
  const openedAt = (await idem.events.get(first.id))!.receivedAt;
  const merged = events.map(({ data }) => mergedOf(data)).reduce(coalesce.merge);
  const spanMs = coalesce.windowMs + Math.max(...events.map(({ data }) => data.lateMs));
  const stretch = Math.floor(openedAt / spanMs);
  const nameOf = (of: number, number: number) => `${source}:logical-${first.data.coalesce}-${of}.${number}`;
  const ours = { carries: events.map(({ data }) => data.id) };

  const before = await chain(deliveries, (number) => nameOf(stretch - 1, number));
  for (;;) {
    const windows = await chain(deliveries, (number) => nameOf(stretch, number));
    const all = [...before, ...windows];
    const own = all.find(({ data }) => data.carries[0] === ours.carries[0]);
    if (own !== undefined) return { kind: "delivered", logicalId: own.id };
    const last = all.at(-1);
    const isLate = last !== undefined && openedAt - last.data.openedAt <= spanMs;
    if (isLate && coalesce.addsNothing(last.data, merged)) return { kind: "absorbed", logicalId: last.id };
    const newest = events.at(-1)!.data;
    const data: LogicalData = {
      ...merged,
      ...ours,
      key: first.data.key,
      subject: newest.subject,
      openedAt,
      payload: newest.payload,
    };
    const id = nameOf(stretch, windows.length);
    // Longer than any retry of this run: its numbers are never used again.
    const sender = { ...options, windowMs: Math.max(options.windowMs, 2 * spanMs) };
    const sent = await sendOnce(sender, { id, name: `${source}/${merged.type}`, data, ts: null });
    if (sent.kind === "fresh") return { kind: "delivered", logicalId: id };
    // Another window of the key took the number meanwhile: after it comes the next.
  }
}

type Logical = { readonly id: string; readonly data: LogicalData };

async function chain(deliveries: SendingClient, nameOf: (number: number) => string): Promise<Logical[]> {
  const found: Logical[] = [];
  for (;;) {
    const id = nameOf(found.length);
    const event = await deliveries.get(id);
    if (event === null) return found;
    found.push({ id, data: event.data as LogicalData });
  }
}
