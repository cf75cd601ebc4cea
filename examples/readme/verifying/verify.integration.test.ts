// docs/verify.md
// #region verify-in-a-test
import { verify } from "idem/verify";
import { test } from "vitest"; // or node:test, or Jest's own
import { idem } from "./functions.ts";

test("an invoice is drafted once", async () => {
  const event = { name: "crm/placement.made", data: { placementId: "7", clientId: "c3" } };
  const report = await verify(idem, { function: "draft-invoice", event });
  report.assertHeld(); // throws what `idem verify` would print: verdict, timeline, place, what plays it again
}, 120_000);
// #endregion
