import { expect, test } from "vitest";
import { verifyPair } from "./verify-pair.ts";

const pair = { firstId: "01M7GREA7FBC28KC5V3EC7KJ59", laterId: "01M7GREA86A5EVBJY47C6XNN89" };
const of = { name: "draft", module: null, store: null };
const alert = { kind: "doubled-runs", fn: "agency-draft" };

test("an alert of two events for one thing offers the command that plays them, in words a shell takes", () => {
  expect(verifyPair(alert, pair, of)).toBe(
    `idem verify path/to/module.ts --function draft --from-store --events ${pair.firstId},${pair.laterId}`,
  );
  expect(verifyPair(alert, pair, { ...of, module: "src/it's.ts", store: "sqlite:.idem/a b.db" })).toContain(
    `'src/it'\\''s.ts' --function draft --from-store 'sqlite:.idem/a b.db'`,
  );
});

test("where there is no function, no first one, or no two events that did one thing twice, nothing is offered", () => {
  expect(verifyPair({ ...alert, fn: "" }, pair, of)).toBeNull();
  expect(verifyPair(alert, { ...pair, firstId: null }, of)).toBeNull();
  for (const kind of ["key-missing", "key-too-broad", "diverged"])
    expect(verifyPair({ ...alert, kind }, pair, of)).toBeNull();
});
