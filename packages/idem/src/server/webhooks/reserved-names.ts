// Names of events that only a webhook source may use. A function that handles `stripe/charge.succeeded` trusts that Stripe signed it, and an
// event key may be in a browser: events that come by other ways under such a name are refused, unless their source allows it.
//
// Sources that were made in the server are settings. A receiver in an app is known from its first delivery, which needs a signing key; its
// reservation is a setting of its own kind.
import type { Engine } from "../../engine/engine.ts";
import { errors } from "../../model/errors.ts";
import { deliverySource, placeOf } from "../../model/event.ts";
import { ifOpens } from "../../model/seal.ts";
import type { Platform } from "../../platform/platform.ts";
import { namePrefixes, readSourceValue, sourceKind } from "../../toolkit/webhooks/source-setting.ts";

/** Settings of this kind reserve the names of a receiver in an app, under the source's name. */
export const appSourceKind = "webhook-app-source";

/** A change by another node, or by a command that writes to the store, is seen after this long. */
const staleMs = 1_000;
// A signing key makes them by delivering; more than any app has.
const appSourcesMax = 1_000;

interface Reservation {
  readonly owners: Set<string>;
  /** Every owner allows other senders. */
  isOpen: boolean;
}

type Reservations = ReadonlyMap<string, Reservation>;

type NamingEngine = Pick<Engine, "env" | "store">;

export class ReservedNames {
  private readonly known = new Map<string, { readonly readAt: number; readonly names: Promise<Reservations> }>();

  constructor(private readonly platform: Pick<Platform, "monoMs">) {}

  /** For events that no signature of a provider vouches for. Throws EVENT_NAME_RESERVED before any of them is stored. */
  async refuseSent(engine: NamingEngine, events: readonly unknown[]): Promise<void> {
    const names = await this.of(engine);
    if (names.size === 0) return;
    for (const [i, event] of events.entries()) {
      const name = nameOf(event);
      const reserved = reservationsOf(names, name).find(({ isOpen }) => !isOpen);
      if (reserved === undefined) continue;
      const [source] = reserved.owners;
      throw errors.EVENT_NAME_RESERVED({ where: placeOf(i, events.length), name, source: source! });
    }
  }

  /** For a delivery: a provider that chooses the type chooses the name, and must not reach into the longer prefix of another source. */
  async refuseDelivered(engine: NamingEngine, source: string, event: unknown): Promise<void> {
    const name = nameOf(event);
    const nearest = reservationsOf(await this.of(engine), name).at(-1);
    if (nearest === undefined || nearest.isOpen || nearest.owners.has(source)) return;
    throw errors.EVENT_NAME_RESERVED({ where: placeOf(0, 1), name, source: [...nearest.owners][0]! });
  }

  /** An app with a signing key delivers: from now on the names are its receiver's, or are free where the receiver shares them. */
  async noteDelivered(engine: NamingEngine, events: readonly unknown[], isShared: boolean): Promise<void> {
    for (const source of new Set(events.map(sourceOfEvent))) {
      const own = (await this.of(engine)).get(`${source}/`);
      if (isShared ? own === undefined : own !== undefined) continue;
      const { env, store } = engine;
      const settings = await store.reads.settings(env, appSourceKind);
      if (!isShared && settings.length >= appSourcesMax) return;
      if (isShared && !settings.some(({ name }) => name === source)) continue;
      const value = isShared ? null : "{}";
      await store.set({ env, kind: appSourceKind, name: source, value, over: null, reason: null });
      this.changed(env);
    }
  }

  /** A source was made, changed or removed here. */
  changed(env: string): void {
    this.known.delete(env);
  }

  private of(engine: NamingEngine): Promise<Reservations> {
    const { env } = engine;
    const now = this.platform.monoMs();
    const known = this.known.get(env);
    if (known !== undefined && now - known.readAt < staleMs) return known.names;
    const names = readReservations(engine);
    this.known.set(env, { readAt: now, names });
    // What could not be read is read again by the next request; this one fails.
    names.catch(() => this.known.get(env)?.names === names && this.known.delete(env));
    return names;
  }
}

async function readReservations({ env, store }: NamingEngine): Promise<Reservations> {
  const names = new Map<string, Reservation>();
  const reserve = (prefix: string, source: string, isOpen: boolean) => {
    const known = names.get(prefix) ?? { owners: new Set<string>(), isOpen: true };
    known.owners.add(source);
    known.isOpen &&= isOpen;
    names.set(prefix, known);
  };
  const [made, inApps] = await Promise.all([
    store.reads.settings(env, sourceKind),
    store.reads.settings(env, appSourceKind),
  ]);
  for (const setting of made) {
    const { name } = setting;
    // A process without the key to its secrets knows the source by its name alone.
    const config = ifOpens(() => readSourceValue(setting.value).config);
    for (const prefix of namePrefixes(name, config ?? {})) reserve(prefix, name, config?.allowOtherSenders === true);
  }
  for (const { name } of inApps) reserve(`${name}/`, name, false);
  return names;
}

/** Prefixes end with a slash and have at most 101 characters: the shortest first. */
function reservationsOf(names: Reservations, name: string): Reservation[] {
  const found: Reservation[] = [];
  for (let end = name.indexOf("/"); end !== -1 && end <= prefixCharsMax; end = name.indexOf("/", end + 1)) {
    const reserved = names.get(name.slice(0, end + 1));
    if (reserved !== undefined) found.push(reserved);
  }
  return found;
}

const prefixCharsMax = 100;

const nameOf = (event: unknown): string => {
  const { name } = (event ?? {}) as { readonly name?: unknown };
  return typeof name === "string" ? name : "";
};

const sourceOfEvent = (event: unknown): string => {
  const { id } = (event ?? {}) as { readonly id?: unknown };
  return deliverySource(typeof id === "string" ? id : null, nameOf(event));
};
