// The store's contract on the runtime that differs most from Node. `npm run runtimes` tries all of them, and more than the contract.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

test("SQLite keeps the store's contract on Bun, over the SQLite that Bun has", { timeout: 900_000 }, () => {
  const program = join(import.meta.dirname, "main.mjs");
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, "bun", "--only", "contract"], {
    encoding: "utf8",
    // Vitest tells its own children who they are.
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^VITEST|^TEST$|^NODE_ENV$/.test(name))),
  });
  expect({ status, output: `${stdout}${stderr}`.slice(-4_000) }).toMatchObject({ status: 0 });
  expect(stdout).toMatch(/^bun {2}contract {2}ok/m);
});
