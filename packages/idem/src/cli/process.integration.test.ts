// The installed command, in processes of its own, beside a process that owns the store and after it is gone.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "./store-world.ts";

const packageFolder = fileURLToPath(new URL("../../", import.meta.url));
const bin = join(packageFolder, "bin", "idem.mjs");
// A loaded machine starts a process in seconds.
const timeout = 30_000;

function idem(cwd: string, ...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [bin, ...args], { cwd, env: { PATH: process.env.PATH } }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}

async function startApp(cwd: string): Promise<ChildProcess> {
  const dist = pathToFileURL(join(packageFolder, "dist", "index.js")).href;
  writeFileSync(
    join(cwd, "app.mjs"),
    `import { Idem } from ${JSON.stringify(dist)};
     const idem = new Idem({ id: "shop" });
     idem.createFunction({ id: "charge", idempotency: "event.data.orderId" }, { event: "order/paid" }, async ({ event, step }) =>
       step.run("charge-card", () => ({ receipt: "r-" + event.data.orderId })));
     await idem.start();
     process.on("SIGTERM", async () => { await idem.stop(); process.exit(0); });
     setInterval(() => {}, 1000);
     console.log("ready");`,
  );
  const app = spawn(process.execPath, ["app.mjs"], { cwd, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void app.kill("SIGKILL"));
  await once(app.stdout!, "data");
  return app;
}

test("commands work beside a living owner, which executes what they send, and after it died", { timeout }, async () => {
  const cwd = temporaryFolder();
  const app = await startApp(cwd);
  const socket = join(cwd, ".idem", "shop.db-sock");
  expect(existsSync(socket)).toBe(true);

  const sent = await idem(cwd, "send", "order/paid", '{"orderId":7}', "--json");
  expect([sent.code, sent.err]).toEqual([0, ""]);
  const [{ runId }] = JSON.parse(sent.out).decisions;
  await expect.poll(async () => JSON.parse((await idem(cwd, "run", runId, "--json")).out).state).toBe("completed");
  const [functions, doctor, copy] = await Promise.all([
    idem(cwd, "functions"),
    idem(cwd, "doctor"),
    idem(cwd, "backup", "copy.db"),
  ]);
  expect(functions.out).toContain("charge");
  expect([doctor.code, doctor.out]).toEqual([0, expect.stringMatching(/owner +process \d+ on/)]);
  expect(copy.code).toBe(0);
  const refused = await idem(cwd, "restore", "copy.db", "--force");
  expect([refused.code, refused.err]).toEqual([3, expect.stringContaining("in use by process")]);

  app.kill("SIGKILL");
  await once(app, "exit");
  expect(existsSync(socket)).toBe(true);
  const later = await idem(cwd, "send", "order/paid", '{"orderId":8}', "--json");
  expect(later.code).toBe(0);
  expect(JSON.parse(later.out).decisions).toMatchObject([{ kind: "started", function: "charge" }]);
  const runs = await idem(cwd, "runs", "--json");
  expect(JSON.parse(runs.out).map(({ state }: any) => state)).toEqual(["queued", "completed"]);
});

test("an owner that stops leaves no socket, and the next one takes up what was sent meanwhile", {
  timeout,
}, async () => {
  const cwd = temporaryFolder();
  const first = await startApp(cwd);
  first.kill("SIGTERM");
  await once(first, "exit");
  expect(existsSync(join(cwd, ".idem", "shop.db-sock"))).toBe(false);
  const sent = await idem(cwd, "send", "order/paid", '{"orderId":1}', "--json");
  const [{ runId }] = JSON.parse(sent.out).decisions;
  await startApp(cwd);
  await expect.poll(async () => JSON.parse((await idem(cwd, "run", runId, "--json")).out).state).toBe("completed");
});

test("the command says its version and its help, and errors go to standard error with their exit code", {
  timeout,
}, async () => {
  const cwd = temporaryFolder();
  const [version, help, wrong, missing] = await Promise.all([
    idem(cwd, "--version"),
    idem(cwd),
    idem(cwd, "nonsense"),
    idem(cwd, "runs"),
  ]);
  expect(version.out).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(help.out).toContain("Usage: idem <command>");
  expect([wrong.code, wrong.out]).toEqual([2, ""]);
  expect([missing.code, missing.out]).toEqual([3, ""]);
  expect(missing.err).toContain("--store");
});

test("a server in a process of its own serves until SIGTERM, and commands work beside it", { timeout }, async () => {
  const cwd = temporaryFolder();
  const args = [bin, "dev", "--port", "0", "--no-discovery"];
  const server = spawn(process.execPath, args, {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH: process.env.PATH },
  });
  onTestFinished(() => void server.kill("SIGKILL"));
  let out = "";
  server.stdout!.on("data", (chunk) => {
    out += chunk;
  });
  await expect.poll(() => out).toContain("Ctrl-C stops");
  const [, origin] = /listens +(\S+)/.exec(out)!;
  expect(await (await fetch(`${origin}/health`)).json()).toEqual({ status: 200, message: "OK" });
  const sent = await idem(cwd, "send", "order/paid", '{"orderId":7}', "--json");
  expect([sent.code, sent.err]).toEqual([0, ""]);
  const listed = (await (await fetch(`${origin}/api/events`)).json()) as { items?: unknown[] };
  expect(JSON.stringify(listed)).toContain("order/paid");
  server.kill("SIGTERM");
  const [code] = await once(server, "exit");
  expect([code, out]).toEqual([0, expect.stringContaining("Stopping")]);
  expect(existsSync(join(cwd, ".idem", "dev.db-sock"))).toBe(false);
});

test("beside an owner that is frozen every command ends within seconds: doctor names it, writers do nothing, readers read", {
  timeout,
}, async () => {
  const cwd = temporaryFolder();
  const app = await startApp(cwd);
  const [{ runId }] = JSON.parse((await idem(cwd, "send", "order/paid", '{"orderId":7}', "--json")).out).decisions;
  await expect.poll(async () => JSON.parse((await idem(cwd, "run", runId, "--json")).out).state).toBe("completed");
  app.kill("SIGSTOP");
  const [doctor, radar, runs, sent, cancelled] = await Promise.all([
    idem(cwd, "doctor"),
    idem(cwd, "radar"),
    idem(cwd, "runs", "--json"),
    idem(cwd, "send", "order/paid", '{"orderId":8}'),
    idem(cwd, "cancel", runId, "--reason", "frozen"),
  ]);
  expect([doctor.code, doctor.out]).toEqual([
    1,
    expect.stringMatching(/problem +The process that has the store does not answer.*process \d+ on.*1 problem found/s),
  ]);
  expect([radar.code, radar.err]).toEqual([0, expect.stringContaining("does not answer within 5 s")]);
  expect(JSON.parse(runs.out).map(({ id }: any) => id)).toEqual([runId]);
  for (const { code, err } of [sent, cancelled]) {
    expect([code, err]).toEqual([
      3,
      expect.stringMatching(/does not answer within 5 s.*nothing was done.*kill -CONT/s),
    ]);
  }
  app.kill("SIGCONT");
  const awake = await idem(cwd, "doctor");
  expect([awake.code, awake.out]).toEqual([0, expect.stringContaining("No problems found")]);
  expect(JSON.parse((await idem(cwd, "runs", "--json")).out)).toHaveLength(1);
});
