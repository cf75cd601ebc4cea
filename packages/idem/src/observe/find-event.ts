// An event by what people have at hand: the id the store gave it, or its sender's own.
import type { EventIdScope } from "../model/claim.ts";
import type { Event } from "../model/event.ts";
import type { StoreReads } from "../store/reads.ts";

export const findEvent = async (
  { store, env }: { readonly store: { readonly reads: StoreReads }; readonly env: string },
  id: string,
  scope?: EventIdScope,
): Promise<Event | null> => (await store.reads.event(env, id)) ?? (await store.reads.eventByCallerId(env, id, scope));
