// A request with a key, brought to one of two ends: it executes under a ticket, or it has an answer already. No third: whatever goes wrong
// on the way, the handler does not run.

import { callWithin, pause } from "../call-within.ts";
import type { KeyAnswer, KeyAsk, KeyHolder } from "../keys/key-store.ts";
import type { AskTogether } from "./ask-together.ts";
import type { Begun, KeyedRequest } from "./begin.ts";
import { responseOf } from "./key-outcome.ts";
import { type ProblemKind, problemResponse } from "./problems.ts";
import type { ReplayCache } from "./replay-cache.ts";
import { type OpenTicket, openTicket, type TicketWorld } from "./ticket.ts";
import { preferredWaitMs, type WaitRoom } from "./wait-room.ts";

export interface BeginWorld extends TicketWorld {
  readonly room: WaitRoom;
  readonly cache: ReplayCache | null;
  readonly together: AskTogether<KeyAnswer>;
  /** Of requests of this route, by experience. */
  averageMs(): number | null;
  isDraining(): boolean;
  opened(open: OpenTicket): void;
}

const pollMsFirst = 50;
const pollMsMax = 500;
const claimTriesMax = 3;

export async function beginRequest(world: BeginWorld, keyed: KeyedRequest): Promise<Begun> {
  const { platform, settings } = world;
  if (world.isDraining()) return refused(world, "draining");
  const cached = world.cache?.find(keyed.id, keyed.fingerprints) ?? null;
  if (cached !== null) {
    world.emit("replayed", { ageMs: platform.wallMs() - cached.completedAt });
    return { kind: "answer", response: await responseOf({ kind: "response", ...cached.stored }, cached, world) };
  }
  const ask: KeyAsk = {
    id: keyed.id,
    owner: uuid(platform.randomBytes(16)),
    fingerprints: keyed.fingerprints,
    leaseMs: settings.leaseMs,
    windowMs: settings.windowMs,
    onCrash: settings.onCrash,
    about: keyed.about,
    work: null,
  };
  const first = await claim(world, ask);
  if (first?.kind !== "in-flight") return answered(world, keyed, ask, first);

  const preferred = preferredWaitMs(keyed.request.headers.get("prefer"));
  const waitMs = Math.min(preferred ?? (settings.isWaiting ? settings.waitMsMax : 0), settings.waitMsMax);
  if (waitMs <= 0 || !world.room.enter(keyed.id)) return answered(world, keyed, ask, first);
  try {
    const begun = await answered(world, keyed, ask, await waitForEnd(world, ask, first, waitMs));
    if (preferred !== null && begun.kind === "answer") {
      begun.response.headers.set("preference-applied", `wait=${Math.floor(waitMs / 1_000)}`);
    }
    return begun;
  } finally {
    world.room.leave(keyed.id);
  }
}

/** Asks again, ever more slowly. A claimant that dies meanwhile leaves its key to the next asker: perhaps to this one. */
async function waitForEnd(world: BeginWorld, ask: KeyAsk, first: KeyAnswer, waitMs: number): Promise<KeyAnswer | null> {
  const { platform } = world;
  const untilMs = platform.monoMs() + waitMs;
  let answer: KeyAnswer | null = first;
  for (let pollMs = pollMsFirst; answer?.kind === "in-flight"; pollMs = Math.min(pollMs * 1.5, pollMsMax)) {
    const leftMs = untilMs - platform.monoMs();
    if (leftMs <= 0 || world.isDraining()) break;
    await pause(platform, Math.min(pollMs, leftMs));
    answer = await claim(world, ask);
  }
  return answer;
}

/** Null when the store did not say "yours" in time; then nobody executes. */
async function claim(world: BeginWorld, ask: KeyAsk): Promise<KeyAnswer | null> {
  const { keys, platform, storeMs, together } = world;
  const untilMs = platform.monoMs() + storeMs;
  for (let tries = 1; ; tries++) {
    // The answer to a second try depends on who asks.
    const ours = () => (tries === 1 ? together.ask(sameAsk(ask), () => keys.claim(ask)) : keys.claim(ask));
    const called = await callWithin(platform, Math.max(0, untilMs - platform.monoMs()), ours);
    if (called.kind === "answer") return called.value;
    if (called.kind === "late") {
      // Nobody waits for it any more: what it claims after all is given back.
      called.pending.then((answer) => giveBack(world, ask, answer)).catch(() => {});
      return null;
    }
    world.report("its key could not be claimed", called.error);
    // The claim may have been made and its answer lost: the same owner asks again and is known.
    if (tries === claimTriesMax || platform.monoMs() + pollMsFirst >= untilMs) return null;
    await pause(platform, pollMsFirst);
  }
}

/** Decides the answer to a claim, beside the record. */
const sameAsk = ({ id, fingerprints, onCrash }: KeyAsk): string => `${id} ${fingerprints[0].value} ${onCrash}`;

async function giveBack({ keys }: BeginWorld, { id, owner }: KeyAsk, answer: KeyAnswer): Promise<void> {
  if (answer.kind !== "fresh") return;
  const holder: KeyHolder = { id, owner, fence: answer.fence };
  // An earlier attempt may have had effects; that must not be forgotten with the record.
  if (answer.attempt === 1) await keys.release(holder);
  else await keys.leave(holder, 0);
}

async function answered(world: BeginWorld, keyed: KeyedRequest, ask: KeyAsk, answer: KeyAnswer | null): Promise<Begun> {
  if (answer === null) {
    world.emit("store-unavailable");
    return refused(world, "store-unavailable");
  }
  switch (answer.kind) {
    case "fresh": {
      const { fence, attempt } = answer;
      // It was asked before the process began to stop; what is begun now, nobody would wait for.
      if (world.isDraining()) {
        await callWithin(world.platform, world.storeMs, () => giveBack(world, ask, answer));
        return refused(world, "draining");
      }
      if (attempt > 1) world.emit("takeover", { attempt });
      const open = openTicket(world, keyed, { id: ask.id, owner: ask.owner, fence }, attempt);
      world.opened(open);
      return { kind: "execute", ticket: open.ticket };
    }
    case "duplicate": {
      const { outcome, completedAt, endsAt } = answer;
      world.emit("replayed", { ageMs: world.platform.wallMs() - completedAt });
      if (outcome.kind === "response") {
        world.cache?.keep(keyed.id, keyed.fingerprints, outcome, { completedAt, endsAt });
      }
      return { kind: "answer", response: await responseOf(outcome, { completedAt, endsAt }, world) };
    }
    case "in-flight": {
      world.emit("conflict", { ageMs: answer.ageMs });
      const retryAfterMs = Math.min(answer.leaseLeftMs, world.averageMs() ?? answer.leaseLeftMs);
      return refused(world, "in-flight", { retryAfterMs, extra: { age_ms: answer.ageMs } });
    }
    case "mismatch":
      world.emit("mismatch", { ageMs: answer.ageMs });
      return refused(world, "key-reused", { extra: { age_ms: answer.ageMs } });
    case "parked":
      world.emit("parked", { ageMs: answer.ageMs });
      return refused(world, "outcome-unknown", { extra: { age_ms: answer.ageMs } });
  }
}

function refused(
  { docs, hint }: BeginWorld,
  kind: ProblemKind,
  facts: { retryAfterMs?: number; extra?: Record<string, unknown> } = {},
): Begun {
  return { kind: "answer", response: problemResponse(kind, { ...facts, hint, ...(docs === null ? {} : { docs }) }) };
}

/** RFC 9562, version 4. */
function uuid(bytes: Uint8Array): string {
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
