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

test("a worker killed in the middle of a run loses only the step it was in; another goes on from there", async () => {
  const { origin, ask, world } = await testServer({ retryIntervalMs: 50 });
  const dying = worker(origin, { HANGS: "1" });
  await dying.says("connected");
  const sent = await ask("/e/key", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify([{ name: "shop/paid", data: {} }]),
  });
  expect(sent.json.status).toBe(200);
  await dying.says("b");
  dying.kill();
  const other = worker(origin);
  await other.says("connected");
  const runs = runsApi(() => world.engine("default"));
  const [run] = await runs.list();
  expect(await runs.wait(run!.id)).toMatchObject({ state: "completed", output: { sum: 10 } });
  expect(dying.said).toEqual(["connected", "a", "b"]);
  expect(other.said.filter((word) => word === "a" || word === "b")).toEqual(["b"]);
});
