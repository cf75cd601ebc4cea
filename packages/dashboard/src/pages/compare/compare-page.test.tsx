// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { findWords, openApp, record, stopClock, textsOf, waitFor } from "../../../tests/test-app.tsx";

stopClock();

const { ids } = record;

test("three sentences answer first; what differs is named, what had to differ is grey", async () => {
  await openApp(`/runs/${ids.billed}/compare/${ids.billedAgain}`);
  await findWords("1 field of the events differs", ".sentences");
  expect(textsOf(".sentences > div")[0]).toContain("eventType: INSERTED, then UPDATED");
  await findWords("1 outcome differs", ".sentences");
  const rowsOf = (selector: string, words: string) =>
    [...document.querySelectorAll(selector)].filter((row) => row.textContent?.includes(words));
  const [differing] = rowsOf(".is-differing", "data.eventType");
  expect([...differing!.querySelectorAll("td")].map((cell) => cell.textContent)).toEqual(["INSERTED", "UPDATED"]);
  expect(rowsOf(".is-expected", "event.id")).toHaveLength(1);
  const [made] = rowsOf("tbody", "Step create-stripe-draft");
  expect(textsOf(".is-differing th", made)).toEqual(["id", "destination key"]);
  await waitFor(() => expect(document.title).toMatch(/Compare .* of agency-bill-placement.* · Idem$/));
});
