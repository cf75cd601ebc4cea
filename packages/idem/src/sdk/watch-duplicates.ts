// The duplicate radar of a process that executes: it looks now and then, beside the work, says what it finds once, and carries it to the
// channels people set up.
import type { Engine } from "../engine/engine.ts";
import { Housekeeping } from "../engine/housekeeping.ts";
import type { Logger } from "../execute/function-code.ts";
import { isStoreOutage } from "../model/errors.ts";
import { dayMs } from "../model/window.ts";
import type { Platform } from "../platform/platform.ts";
import { AlertCourier } from "../radar/alert-courier.ts";
import { ArrivalFollower, radarLimits } from "../radar/follow-arrivals.ts";
import { type ChannelPorts, sendToChannel } from "./send-to-channel.ts";

const lookMs = 1_000;
// Behind, it catches up at 2,500 events a second; slower where a look takes long, so that it never takes more than a twentieth of the time.
const behindMs = 200;
const restsPerLook = 19;
// With the time ids need to settle: an alert is there within five seconds.
const idleMs = 2_000;
const idleLooks = 5;
// A message may take its seconds; an alert waits for the next look at most.
const carryMs = 2_000;
// For as long as an alert that is muted for a while may be of interest.
const announcedForMs = 30 * dayMs;

export interface WatchOptions {
  readonly engine: Engine;
  readonly platform: Pick<Platform, "timer" | "monoMs" | "wallMs">;
  readonly logger: Logger;
  /** The addresses messages may go to; any by default. */
  readonly addresses?: Pick<ChannelPorts, "refuses" | "lookup">;
}

export interface DuplicateRadar {
  stop(): Promise<void>;
}

export function watchDuplicates({ engine, platform, logger, addresses }: WatchOptions): DuplicateRadar {
  const { store, env, registry } = engine;
  const follower = new ArrivalFollower({
    store,
    env,
    now: () => engine.now(),
    newId: () => engine.newId(),
    functionOf: (fn) => ({
      name: registry.displayName(fn),
      keyExpression: registry.get(fn)?.config.idempotency?.key ?? null,
    }),
    announce: (events) => engine.announce(events, announcedForMs),
    warn: (line) => logger.warn(line),
    turns: engine.turns,
  });
  const housekeeping = new Housekeeping(platform);
  let isStopped = false;
  let looking: Promise<unknown> = Promise.resolve();
  let said = "";
  let quiet = 0;
  housekeeping.paced(lookMs, async () => {
    try {
      const begunAt = platform.monoMs();
      const look = follower.look();
      looking = look.catch(() => {});
      const read = await look;
      said = "";
      quiet = read === 0 ? quiet + 1 : 0;
      if (read === radarLimits.pageMax) return Math.max(behindMs, restsPerLook * (platform.monoMs() - begunAt));
      return quiet > idleLooks ? idleMs : lookMs;
    } catch (error) {
      // Runs do not depend on it. The same trouble is logged once, until a look succeeds again.
      const message = error instanceof Error ? error.message : String(error);
      if (isStopped) return idleMs;
      if (isStoreOutage(error)) engine.health.report("the duplicate radar", error);
      else if (message !== said) logger.warn(`idem: the duplicate radar could not look: ${message}`);
      said = message;
      return idleMs;
    }
  });
  const stopping = new AbortController();
  const courier = new AlertCourier({
    store,
    env,
    now: () => engine.now(),
    newId: () => engine.newId(),
    nameOf: (fn) => registry.displayName(fn),
    send: (channel, message) =>
      sendToChannel(channel, message, { ...addresses, platform, logger, signal: stopping.signal }),
    warn: (line) => logger.warn(line),
  });
  let carrying: Promise<unknown> = Promise.resolve();
  let troubled = "";
  housekeeping.every(carryMs, async () => {
    const look = courier.look();
    carrying = look.catch(() => {});
    try {
      await look;
      troubled = "";
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (isStopped) return;
      if (isStoreOutage(error)) engine.health.report("alert delivery", error);
      else if (message !== troubled) logger.warn(`idem: alerts could not be carried to channels: ${message}`);
      troubled = message;
    }
  });
  return {
    stop: async () => {
      isStopped = true;
      housekeeping.stop();
      stopping.abort();
      await Promise.all([looking, carrying]);
      // A store that is gone keeps the claims until their lease is over.
      await courier.handBack().catch(() => {});
    },
  };
}
