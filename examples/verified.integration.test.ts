// What `idem verify` says of the examples' own functions. Not looked at: functions of tests (seeds, kill-test), those behind a database that is no file (the shop's other two)
// or clients that are only declared (readme), and the app of the official SDK, which `idem verify -u` plays.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";

// Two hundred worlds: seconds of processor, which on a busy machine are minutes.
vi.setConfig({ testTimeout: 300_000 });

function verify(...args: string[]) {
  const bin = fileURLToPath(new URL("../packages/idem/bin/idem.mjs", import.meta.url));
  const cwd = fileURLToPath(new URL(".", import.meta.url));
  const asked = [bin, "verify", "--budget", "0", "--reporter", "json", ...args];
  const { status, stdout } = spawnSync(process.execPath, asked, { cwd, encoding: "utf8" });
  const { functions } = JSON.parse(stdout);
  const said = functions.map(({ id, verdict, findings }: any) => [
    id,
    verdict,
    ...findings.map((each: any) => each.thing),
  ]);
  expect(functions.every(({ effects }: any) => effects > 0)).toBe(true);
  return { said, status };
}

test("the examples' functions hold", () => {
  const names = ["draft-invoice", "renew-membership", "pay-deposit", "order"];
  const { said, status } = verify(...names.flatMap((name) => ["--function", name]));
  expect(said).toEqual(names.map((name) => [name, "HELD"]));
  expect(status).toBe(0);
});

// All of its 254 take a quarter of a minute: `npx idem verify --function invoice-placement` in this folder.
test("an approval's row, its draft and its sending are one each, whichever of their commits a process dies at", () => {
  const at = [1, 2, 3, 4, 5, 6].flatMap((k) => [`die-after-effect:${k}`, `die-before-effect:${k}`]);
  const others = ["other-id-at-once", "twin-at-once", "rerun", "wait-twice"];
  const { said, status } = verify(
    ...["--function", "invoice-placement"],
    ...[...at, ...others].flatMap((name) => ["--schedule", name]),
  );
  expect(said).toEqual([["invoice-placement", "HELD"]]);
  expect(status).toBe(0);
});
