// A child of main.ts: one engine, once, on a fresh folder; its figures go to the parent as a message. In a process of its own, so
// that no engine inherits another's heap, and in a process group of its own, so that whatever it starts can be ended with it.
import { once } from "node:events";
import { parseArgs } from "node:util";
import { keepInFlightFor, shuffled, type Throughput } from "../measure.ts";
import type { Peer, WithPeer } from "./peer.ts";

export interface Round extends Pick<Peer, "name" | "versions" | "durability"> {
  /** 100 in flight. */
  readonly loaded: Throughput;
  /** One at a time. */
  readonly alone: Throughput;
}

const { values } = parseArgs({
  options: {
    engine: { type: "string" },
    folder: { type: "string" },
    seconds: { type: "string" },
  },
});
const windowMs = Number(values.seconds) * 1_000;

// Without a parent nobody would end this, nor the servers it started.
const endGroup = () => process.kill(-process.pid, "SIGKILL");
process.once("disconnect", endGroup);

const { withPeer } = (await import(`./${values.engine}.js`)) as { withPeer: WithPeer };
const round = await withPeer(values.folder!, async ({ oneRun, name, versions, durability }): Promise<Round> => {
  let runs = 0;
  const one = async () => {
    const n = ++runs;
    const output = (await oneRun(n)) as { n: number; c: number };
    if (output.n !== shuffled(n) || output.c !== 3) throw new Error(`run ${n} gave ${JSON.stringify(output)}`);
  };
  await one();
  // Half the window warms up the compilers of everyone in the path, which is where the first second or two differ.
  const loaded = await keepInFlightFor(100, { warmUpMs: windowMs / 2, windowMs }, one);
  const alone = await keepInFlightFor(1, { warmUpMs: windowMs / 10, windowMs: windowMs / 2 }, one);
  return { name, versions, durability, loaded, alone };
});
process.off("disconnect", endGroup);
process.send!(round);
// The parent hangs up when it has the figures.
await once(process, "disconnect");
process.exit(0);
