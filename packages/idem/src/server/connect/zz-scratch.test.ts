// A whole server and the real SDK: runs of connected workers, with checkpoints as they come by default.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { runsApi } from "../../sdk/reads-api.ts";
import { testServer } from "../test-server.suite.ts";

const packageFolder = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");

const workerCode = `
  import { Inngest } from "inngest";
  import { connect } from "inngest/connect";
  const inngest = new Inngest({ id: "shop", logger: { info() {}, warn() {}, error() {}, debug() {} } });
  const ran = (id, value) => async () => { process.send(id); return value; };
  const pay = inngest.createFunction({ id: "pay", triggers: [{ event: "shop/paid" }] }, async ({ step }) => {
    const a = await step.run("a", ran("a", 1));
    const b = await step.run("b", async () => {
      process.send("b");
      if (process.env.HANGS === "1") await new Promise(() => setInterval(() => {}, 1_000));
      return 2;
    });
    const [c, d] = await Promise.all([step.run("c", ran("c", 3)), step.run("d", ran("d", 4))]);
    return { sum: a + b + c + d };
  });
  await connect({ apps: [{ client: inngest, functions: [pay] }] });
  process.send("connected");
`;

function worker(origin: string, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", workerCode], {
    cwd: packageFolder,
    env: {
      PATH: process.env.PATH,
      NODE_OPTIONS: "--experimental-websocket --no-warnings",
      INNGEST_DEV: origin,
      ...env,
    },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const said: unknown[] = [];
  child.on("message", (word) => said.push(word));
  const says = async (word: string) => {
    while (!said.includes(word)) await once(child, "message");
  };
  return { said, says, kill: () => child.kill("SIGKILL") };
}

test("many", async () => {
  const { origin, ask, world } = await testServer({ retryIntervalMs: 50 });
  const w = worker(origin);
  await w.says("connected");
  const runs = runsApi(() => world.engine("default"));
  for (let round = 0; round < 15; round++) {
    const sent = await ask("/e/key", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(Array.from({ length: 40 }, () => ({ name: "shop/paid", data: {} }))) });
    expect(sent.json.status).toBe(200);
    const list = await runs.list({ limit: 40 } as any);
    await Promise.all(list.map((r) => runs.wait(r.id)));
    for (const r of list) {
      const got = (await runs.get(r.id))!;
      const ms = got.endedAt! - got.createdAt!;
      if (ms > 5000 || got.timeline.some((s) => s.attempts.length > 1 || s.attempts.some(a => a.error))) console.log("SLOW", ms, JSON.stringify(got.timeline).slice(0, 3000));
    }
  }
});
