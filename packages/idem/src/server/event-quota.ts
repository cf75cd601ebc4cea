// Bounds what is sent with one event key in a window. Such a key may be in a browser, where everybody can read it: a reader may fill
// neither the store nor the time of those who send with other keys. Counted in this process, by the steady clock; each node counts by itself.
//
//   headers ─▶ a request, and the length it announces     body ─▶ its bytes, decoded     parsed ─▶ its events
//   each may be the one too many ─▶ 429, Retry-After: when the window ends; nothing was stored
import { parseDuration } from "../model/duration.ts";
import { errors } from "../model/errors.ts";
import type { Platform } from "../platform/platform.ts";
import { readKey } from "./credentials.ts";

/** Bounds of one key in one window. */
export interface EventQuota {
  readonly requests: number;
  readonly events: number;
  /** Decoded. */
  readonly bytes: number;
  readonly windowMs: number;
}

const mebibyte = 1024 * 1024;

// A thousand requests a second, each of five small events, go on all day.
const requestsMax = 10_000;
const eventsMax = 50_000;
const bytesMax = 64 * mebibyte;
// Short, so that who was refused is soon let in again.
const windowMsUsual = 10_000;

export const eventQuotaDefault: EventQuota = {
  requests: requestsMax,
  events: eventsMax,
  bytes: bytesMax,
  windowMs: windowMsUsual,
};

export const quotaKinds = ["requests", "events", "bytes"] as const;
export type QuotaKind = (typeof quotaKinds)[number];

type Counts = Record<QuotaKind, number>;
const none = (): Counts => ({ requests: 0, events: 0, bytes: 0 });

/** A key by its place among those of its environment: the key itself is nobody's to read. */
export interface QuotaUse {
  readonly env: string;
  readonly place: number;
  /** In the window that is open now. */
  readonly used: Readonly<Counts>;
  /** Requests since the start, by what they were too many of. */
  readonly refused: Readonly<Counts>;
}

export class EventQuotas {
  private readonly byKey = new Map<string, KeyQuota>();

  constructor(
    readonly quota: EventQuota,
    eventKeys: readonly string[],
    platform: Pick<Platform, "monoMs">,
  ) {
    const places = new Map<string, number>();
    for (const { env, key } of eventKeys.map(readKey)) {
      if (this.byKey.has(key)) continue;
      const place = (places.get(env) ?? 0) + 1;
      places.set(env, place);
      this.byKey.set(key, new KeyQuota(quota, env, place, platform));
    }
  }

  /** Of a key that was admitted. */
  of(key: string | undefined): KeyQuota | undefined {
    return this.byKey.get(key ?? "");
  }

  /** Of every key, in the order they were given. */
  uses(): QuotaUse[] {
    return [...this.byKey.values()].map((each) => each.use());
  }
}

/** Sent with one key so far. */
export class KeyQuota {
  private used = none();
  private readonly refused = none();
  private endsAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly quota: EventQuota,
    private readonly env: string,
    private readonly place: number,
    private readonly platform: Pick<Platform, "monoMs">,
  ) {}

  /** Before anything of the body is read. `announced` is what Content-Length says. */
  takeRequest(announced: number): void {
    this.open();
    const { quota, used } = this;
    if (announced > quota.bytes) throw errors.BODY_TOO_LARGE({ max: quota.bytes });
    if (used.requests >= quota.requests) this.refuse("requests");
    if (used.events >= quota.events) this.refuse("events");
    if (used.bytes + announced > quota.bytes) this.refuse("bytes");
    used.requests++;
  }

  /** Before it is parsed; it has been read, and counts whatever is said of it. */
  takeBytes(bytes: number): void {
    this.open();
    const { quota, used } = this;
    if (bytes > quota.bytes) throw errors.BODY_TOO_LARGE({ max: quota.bytes });
    const isOver = used.bytes + bytes > quota.bytes;
    used.bytes = Math.min(quota.bytes, used.bytes + bytes);
    if (isOver) this.refuse("bytes");
  }

  /** Before any is stored. */
  takeEvents(count: number): void {
    this.open();
    const { quota, used } = this;
    if (count > quota.events) throw errors.EVENT_BATCH_TOO_LARGE({ count, max: quota.events });
    if (used.events + count > quota.events) this.refuse("events");
    used.events += count;
  }

  use(): QuotaUse {
    this.open();
    return { env: this.env, place: this.place, used: { ...this.used }, refused: { ...this.refused } };
  }

  private open(): void {
    const now = this.platform.monoMs();
    if (now < this.endsAtMs) return;
    this.endsAtMs = now + this.quota.windowMs;
    this.used = none();
  }

  private refuse(kind: QuotaKind): never {
    this.refused[kind]++;
    const { [kind]: max, windowMs } = this.quota;
    const seconds = Math.max(1, Math.ceil((this.endsAtMs - this.platform.monoMs()) / 1_000));
    throw errors.EVENT_QUOTA_REACHED({ kind, max, window: windowMs / 1_000, seconds });
  }
}

/** `requests=10000,events=50000,bytes=64MiB,window=10s`, what is left out as usual; `off` for none. `where` names it in the error. */
export function readEventQuota(text: string, where: string): EventQuota | null {
  if (text.trim().toLowerCase() === "off") return null;
  const quota: { -readonly [K in keyof EventQuota]: number } = { ...eventQuotaDefault };
  for (const part of text.split(",")) {
    const [name = "", value = ""] = part.split("=").map((each) => each.trim());
    if (name === "window") quota.windowMs = parseDuration(value, where);
    else if (name === "bytes") quota.bytes = bytesOf(value, where);
    else if (name === "requests" || name === "events") quota[name] = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    else throw refusal(where, `"${part.trim().slice(0, 60)}" is none of requests=…, events=…, bytes=… and window=…`);
  }
  return checkedQuota(quota, where);
}

/** Throws OPTION_INVALID. */
export function checkedQuota(quota: EventQuota, where: string): EventQuota {
  for (const name of [...quotaKinds, "windowMs"] as const) {
    if (!Number.isSafeInteger(quota[name]) || quota[name] < 1) {
      throw refusal(where, `its ${name} must be a whole number above 0`);
    }
  }
  return quota;
}

const units: Readonly<Record<string, number>> = { "": 1, kib: 1024, mib: mebibyte, gib: 1024 * mebibyte };

function bytesOf(text: string, where: string): number {
  const [, digits, unit = ""] = /^(\d+)\s*(\w*)$/.exec(text) ?? [];
  const size = units[unit.toLowerCase()];
  if (digits === undefined || size === undefined)
    throw refusal(where, `its bytes must be a number, or one of KiB, MiB or GiB`);
  return Number(digits) * size;
}

const refusal = (where: string, why: string) => errors.OPTION_INVALID({ option: where, why });
