// The example as a stranger runs it.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

test("an app of the inngest package runs on idem dev as it is, and a placement sent twice is one run", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, "main.mjs")], {
    encoding: "utf8",
    timeout: 110_000,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout.match(/the app creates a draft for placement 7/g)).toHaveLength(1);
  expect(stdout).toMatch(/run \S+ of shop-draft-invoice is completed: \{"sent":"in_7"\}/);
  expect(stdout).toMatch(/duplicate-key: key 7 is taken by run/);
  expect(stdout).toMatch(/weekly-statement +0 9 \* \* 1 +Europe\/London/);
});
