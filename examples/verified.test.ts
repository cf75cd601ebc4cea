// What `idem verify` says of the examples' own functions. Not looked at: functions of tests (seeds, kill-test), those behind a database (the shop's other two, the approval's)
// or clients that are only declared (readme), and the app of the official SDK, which `idem verify -u` plays.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";

// Two hundred worlds: seconds of processor, which on a busy machine are minutes.
vi.setConfig({ testTimeout: 300_000 });

test("the examples' functions hold", () => {
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
    ["order", "HELD"],
  ]);
  expect(functions.every(({ effects }: any) => effects > 0)).toBe(true);
  expect(status).toBe(0);
});
