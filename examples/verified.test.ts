// What `idem verify` says of the examples' own functions. Not looked at: functions of tests (seeds, kill-test), those behind a database (the shop's other two)
// or clients that are only declared (readme), and the app of the official SDK, which the verifier cannot load yet.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";

// Two hundred worlds: seconds of processor, which on a busy machine are minutes.
vi.setConfig({ testTimeout: 300_000 });

test("the examples' functions hold, and what nobody can watch yet is said by its name", () => {
  const bin = fileURLToPath(new URL("../packages/idem/bin/idem.mjs", import.meta.url));
  const cwd = fileURLToPath(new URL(".", import.meta.url));
  const args = [bin, "verify", "--budget", "0", "--reporter", "json"];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
  const { functions } = JSON.parse(stdout);
  const said = functions.map(({ id, verdict, findings }: any) => [
    id,
    verdict,
    ...findings.map((each: any) => each.thing),
  ]);
  expect(said).toEqual([
    ["draft-invoice", "HELD"],
    ["renew-membership", "HELD"],
    ["pay-deposit", "HELD"],
    ["invoice-placement", "UNPROVEN", 'step.transaction "queue" writes to a database, which is not watched'],
    ["order", "HELD"],
  ]);
  expect(functions.every(({ verdict, effects }: any) => verdict === "UNPROVEN" || effects > 0)).toBe(true);
  expect(status).toBe(2);
});
