// Apps in processes of their own, really killed. A short form; `npm run proof -- corpus --apps` plays every pair of them.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { nodePlatform } from "../../platform/node-platform.ts";
import { verifyFunction } from "../verify-function.ts";
import type { DatabaseScript } from "../worker/sql/database-script.ts";
import { AppProcess } from "./app-process.ts";
import { AppWorlds } from "./app-worlds.ts";
import { ControlServer } from "./control-server.ts";

const apps = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "..", "..", "verify-corpus", "apps");
const url = new URL("http://localhost:3000/api/inngest");
const event = { name: "crm/placement.made", data: { placementId: "7", clientId: "c3" } };

async function verifyApp(program: string, only: readonly string[], databases: readonly DatabaseScript[] = []) {
  const command = [process.execPath, join(apps, program)];
  const worlds = await AppWorlds.open({
    platform: nodePlatform,
    command,
    cwd: apps,
    env: process.env,
    url,
    startMsMax: 60_000,
    isAhead: false,
    databases,
  });
  onTestFinished(() => worlds.close());
  const [fn] = await worlds.describe();
  return verifyFunction({
    threads: worlds,
    platform: nodePlatform,
    modules: [],
    fn: fn!,
    endHandlers: [],
    event,
    budgetMs: 0,
    mends: false,
    only,
  });
}

async function startOf(command: string): Promise<AppProcess> {
  const control = await ControlServer.open();
  onTestFinished(() => control.close());
  const { env } = process;
  const serverOrigin = "http://127.0.0.1:1";
  return new AppProcess({
    platform: nodePlatform,
    command,
    cwd: apps,
    env,
    url,
    control,
    serverOrigin,
    startMsMax: 60_000,
    world: null,
  });
}

test("an app of the official SDK is killed when its effect has happened, and what it does again is found, with its line", async () => {
  const { verdict, findings } = await verifyApp("no-key/faulty.mjs", ["die-after-effect:1"]);
  expect(findings.map(({ place, thing }) => ({ line: place?.line, thing }))).toEqual([
    { line: 10, thing: "two of api.stripe.com/v1/charges" },
  ]);
  expect(verdict).toBe("DOUBLED");
});

test("a row that an app writes again after its death is found at its statement, and the project's own file is never opened", async () => {
  const scratch = mkdtempSync(join(tmpdir(), "app-databases-"));
  onTestFinished(() => rmSync(scratch, { recursive: true }));
  const database = { kind: "sqlite", file: join(apps, "shop.db"), name: "shop.db", image: join(scratch, "shop.db") };
  const { verdict, findings } = await verifyApp(
    "sqlite-blind-insert/faulty.mjs",
    ["die-after-effect:1"],
    [database as DatabaseScript],
  );
  expect(findings.map(({ place, thing }) => ({ line: place?.line, thing }))).toEqual([
    { line: 16, thing: "two of shop.db/invoices" },
  ]);
  expect(verdict).toBe("DOUBLED");
  expect(existsSync(join(apps, "shop.db"))).toBe(false);
});

test("an app that does not start is told with what it printed", async () => {
  const app = await startOf(`node -e "console.error('no database'); process.exit(3)"`);
  expect(await app.started).toEqual({ kind: "failed", why: "it ended with exit code 3", output: ["no database"] });
});

test("nothing an app started is left when it is killed", async () => {
  const idle = `node -e "setInterval(() => {}, 1e6)"`;
  const app = await startOf(`${idle} & ${idle}`);
  await expect.poll(() => app.size).toBe(2);
  await app.kill();
  expect(app.size).toBe(0);
  expect(await app.started).toMatchObject({ kind: "failed", why: "it ended with SIGKILL" });
});
