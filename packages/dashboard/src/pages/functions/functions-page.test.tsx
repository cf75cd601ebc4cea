// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { openApp, record, screen, stopClock, textsOf, waitFor } from "../../../tests/test-app.tsx";

stopClock();

const { story } = record;
const nameOf = (slug: string) => slug.replace(/^agency-/, "");
const cellsOf = (name: string) => {
  const row = [...document.querySelectorAll("tbody tr")].find((each) => each.textContent?.includes(name))!;
  return [...row.querySelectorAll("th, td")];
};

test("each function says whether it has a key: none is said in magenta, never by an empty cell", async () => {
  const { user, address } = await openApp("/functions");
  await waitFor(() => expect(textsOf("tbody tr").length).toBeGreaterThan(10));
  const payments = cellsOf(nameOf(story.payments)).map((cell) => cell.textContent?.trim());
  expect(payments[1]).toContain("event.data.payment");
  // 2 ran, 4 more were stopped.
  expect(payments.slice(3, 5)).toEqual(["2", "4"]);
  const none = cellsOf(nameOf(story.drafts))[1]!.querySelector(".no-key");
  expect(none?.textContent).toContain("none");
  for (const row of document.querySelectorAll("tbody tr")) expect(row.children[1]!.textContent).not.toBe("");
  await user.click(screen.getByRole("link", { name: nameOf(story.drafts) }));
  await waitFor(() => expect(address().pathname).toBe(`/functions/${story.drafts}`));
});

test("each function shows its last verdict with its age and whether the code has changed since; none is never shown as good", async () => {
  const { user, address } = await openApp("/functions");
  await waitFor(() => expect(textsOf("tbody tr").length).toBeGreaterThan(10));
  const verdict = (name: string) => cellsOf(name)[2]!;
  expect(verdict("record-stripe-payment").textContent).toMatch(/HELD in 61 schedules\s*2 h ago\s*code changed/);
  expect(verdict("draft-invoice-from-placement").textContent).toContain("DOUBLED in 61 schedules");
  expect(verdict("send-placement-welcome").textContent).toContain("UNPROVEN in 0 schedules");
  expect(verdict("nightly-report").textContent).toBe("never verified");
  for (const name of ["nightly-report", "send-placement-welcome"])
    expect(verdict(name).querySelectorAll(".completed")).toHaveLength(0);
  await user.click(screen.getByRole("button", { name: /^Never verified \d/ }));
  await waitFor(() => expect(textsOf("tbody tr").join()).not.toContain("record-stripe-payment"));
  expect(address().searchParams.get("verdict")).toBe("never");
});
