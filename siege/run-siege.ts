// A siege: honest traffic all the time, the attacks in turn and then all of them at once, round after round; and what came of it.
import type { Tally } from "./attackers.ts";
import { type Castle, openCastle } from "./castle.ts";
import { HonestTraffic, type Sample } from "./honest.ts";
import { kinds } from "./kinds.ts";
import { ask, pause } from "./line.ts";

export const everything = "all at once";

export interface SiegeOptions {
  /** Names of kinds; all of them where there is more than one are attacked with at once as well. */
  readonly kinds: readonly string[];
  readonly sliceMs: number;
  readonly rounds: number;
  /** Runs, and events that start none, there are before it begins: what reads must look through. */
  readonly runsBefore: number;
  readonly eventsBefore: number;
  readonly onProgress?: (text: string) => void;
}

/** Observations while one kind attacked. */
export interface Slice {
  readonly kind: string;
  readonly round: number;
  readonly samples: readonly Sample[];
  readonly answers: Readonly<Record<string, number>>;
  /** The longest time in which the server's event loop did nothing else, in milliseconds. */
  readonly loopMs: number;
}

export interface Memory {
  readonly server: number;
  readonly app: number;
}

export interface Siege {
  readonly slices: readonly Slice[];
  /** Each second: bytes. */
  readonly memory: readonly Memory[];
  /** After each round, without garbage. */
  readonly memoryKept: readonly Memory[];
  /** A process under attack that did not live to the end of it. */
  readonly ended: string | null;
}

export async function runSiege(options: SiegeOptions): Promise<Siege> {
  const castle = await openCastle();
  try {
    await sendPast(castle, "siege/past", options.eventsBefore);
    await fill(castle, options.runsBefore);
    return await besiege(castle, options);
  } finally {
    castle.close();
  }
}

async function besiege(castle: Castle, { kinds: names, sliceMs, rounds, onProgress }: SiegeOptions): Promise<Siege> {
  const honest = new HonestTraffic(castle);
  const attacks = names.length > 1 ? [...names.map((name) => [name]), [...names]] : [[...names]];
  const seen: { kind: string; round: number; tally: Tally; loopMs: number }[] = [];
  const memory: Memory[] = [];
  const memoryKept: Memory[] = [];
  const meter = setInterval(() => memory.push(castle.memory()), Math.min(1_000, sliceMs / 2));
  for (let round = 0; round < rounds && castle.ended === null; round++) {
    for (const attack of attacks) {
      const kind = attack.length > 1 ? everything : attack[0]!;
      onProgress?.(`round ${round + 1} of ${rounds}: ${kind}`);
      honest.slice = seen.length;
      await loopMsOf(castle);
      if (attack.includes("examinations")) honest.examine();
      const tally = await castle.attack({ kinds: attack, ms: sliceMs });
      seen.push({ kind, round, tally, loopMs: await loopMsOf(castle) });
      if (castle.ended !== null) break;
    }
    memoryKept.push(await castle.memoryKept());
  }
  clearInterval(meter);
  onProgress?.("waiting for what is under way");
  await honest.stop();
  const slices = seen.map(({ kind, round, tally, loopMs }, n) => ({
    kind,
    round,
    loopMs,
    samples: honest.samples.filter(({ slice }) => slice === n),
    answers: merged(Object.values(tally)),
  }));
  return { slices, memory, memoryKept, ended: castle.ended };
}

function merged(tallies: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const tally of tallies) for (const [name, n] of Object.entries(tally)) sum[name] = (sum[name] ?? 0) + n;
  return sum;
}

/** Since it was last asked. */
async function loopMsOf({ target }: Castle): Promise<number> {
  const headers = { authorization: `Bearer ${target.signingKey}` };
  const { text } = await ask(`${target.server}/metrics`, { headers });
  const delays = [...text.matchAll(/^idem_event_loop_delay_seconds\{quantile="1"\} (\S+)$/gm)];
  return delays.reduce((most, [, seconds]) => Math.max(most, Number(seconds) * 1_000), 0);
}

async function fill(castle: Castle, count: number): Promise<void> {
  let ran = 0;
  castle.onRan = () => ran++;
  await sendPast(castle, "siege/served", count);
  for (const since = Date.now(); ran < count && Date.now() - since < 120_000; ) await pause(50);
}

async function sendPast({ target }: Castle, name: string, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 250) {
    const events = Array.from({ length: Math.min(250, count - sent) }, () => ({ name, data: { n: 0 } }));
    const headers = { "content-type": "application/json" };
    await ask(`${target.server}/e/${target.eventKey}`, { method: "POST", headers, body: JSON.stringify(events) });
  }
}

export const kindNames: readonly string[] = kinds.map(({ name }) => name);
