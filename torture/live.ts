// A victim as the torturer holds it: started, killed, and asked how it ended.
import { type ChildProcess, fork } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { program } from "./engine.ts";
import type { Kill } from "./kill-plan.ts";
import type { Life } from "./victim.ts";

export interface LifeEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Its standard error. */
  readonly complaints: string;
}

// A point that is not reached by then is not reached at all. On a machine that was busy with others lives took up to 13 s, so 20 s say little;
// a life that reaches its point ends with it and waits for nothing.
const patienceMs = 120_000;

interface Started {
  readonly child: ChildProcess;
  readonly started: Promise<void>;
  readonly ended: Promise<LifeEnd>;
}

function begin(life: Life): Started {
  const child = fork(program("victim"), [JSON.stringify(life)], { stdio: ["ignore", "ignore", "pipe", "ipc"] });
  let complaints = "";
  child.stderr!.on("data", (chunk) => {
    complaints += chunk;
  });
  const started = new Promise<void>((resolve) => child.once("message", () => resolve()));
  const ended = new Promise<LifeEnd>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, complaints }));
  });
  return { child, started, ended };
}

const end = async ({ child, ended }: Started): Promise<LifeEnd> => {
  child.kill("SIGKILL");
  return ended;
};

/** Lives until it is killed as planned; `reached` is false when the plan's instant never came. */
export async function liveUntil(kill: Kill, life: Life): Promise<LifeEnd & { readonly reached: boolean }> {
  const victim = begin(life);
  const gaveUp = new AbortController();
  const isDead = victim.ended.then(() => "dead" as const);
  const wait = (ms: number) => delay(ms, "time" as const, { signal: gaveUp.signal }).catch(() => "time" as const);
  try {
    if (kill.at === "point") {
      const reached = (await Promise.race([isDead, wait(patienceMs)])) === "dead";
      return { ...(await end(victim)), reached };
    }
    if (kill.at === "any-time") await Promise.race([victim.started, isDead, wait(patienceMs)]);
    await Promise.race([isDead, wait(kill.ms)]);
    return { ...(await end(victim)), reached: true };
  } finally {
    gaveUp.abort();
  }
}

/** The last life, which is not killed unless it takes longer than it may. */
export async function liveOut(life: Life, withinMs: number): Promise<LifeEnd & { readonly tookMs: number }> {
  const startedAt = performance.now();
  const victim = begin(life);
  const timer = setTimeout(() => victim.child.kill("SIGKILL"), withinMs);
  const ended = await victim.ended;
  clearTimeout(timer);
  return { ...ended, tookMs: performance.now() - startedAt };
}
