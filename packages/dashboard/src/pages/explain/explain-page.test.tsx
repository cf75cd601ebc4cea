// @vitest-environment happy-dom
import { expect, test } from "vitest";
import {
  findDialog,
  findWords,
  openApp,
  record,
  screen,
  stopClock,
  textAt,
  textsOf,
  waitFor,
} from "../../../tests/test-app.tsx";

stopClock();

const { story } = record;

test("the double invoice is told from its number alone: the because, the four gates, both runs and what to do", async () => {
  const { user, address } = await openApp("/explain");
  await user.type(await screen.findByLabelText("An id, a key or a value"), "48213{Enter}");
  await waitFor(() => expect(address().href).toContain("/explain?q=48213"));
  expect(await textAt(".verdict h2")).toBe(
    "Placement 48213 ran twice because nothing marked its two events as the same",
  );
  expect(await textAt(".verdict .block")).toBe("×2");
  expect(textsOf(".gate .name")).toEqual(["Webhook", "Event id", "Function key", "Destination key"]);
  expect(textsOf(".gate .did")).toEqual(["not in use", "let it through", "let it through", "let it through"]);
  const told = textsOf(".facts-told .told").join("\n");
  expect(told).toContain("This is the duplicate that slipped through.");
  expect(told).toContain("Both runs wait in step wait-for-approval.");
  expect(textsOf(".to-do .button")).toEqual(["Cancel run 2", "See the line to paste", "Show how"]);
});

test("every noun leads to its page", async () => {
  await openApp("/explain?q=48213");
  await textAt(".facts-told .told");
  const link = (name: string) => screen.getAllByRole("link", { name })[0]!.getAttribute("href");
  expect(link("run 2")).toBe(`/runs/${story.doubled.secondRun}`);
  expect(link("evt_48213_i")).toBe(`/events/${story.doubled.firstEvent}`);
  expect(link("draft-invoice-from-placement")).toBe(`/functions/${story.drafts}`);
});

test("the story can be copied as plain sentences with times", async () => {
  const { user } = await openApp("/explain?q=pi_3RPq7Lm");
  expect(await textAt(".verdict h2")).toBe(
    "Payment pi_3RPq7Lm ran once because its key was taken: three duplicates were stopped",
  );
  await user.click(screen.getByRole("button", { name: "Copy as text" }));
  const lines = (await navigator.clipboard.readText()).split("\n");
  expect(lines[0]).toContain("Payment pi_3RPq7Lm ran once because its key was taken");
  expect(lines).toContain(
    "Function key: stopped it. Key pi_3RPq7Lm was taken: three duplicates were answered with the first run.",
  );
  // Three askings are one sentence.
  expect(lines.filter((line) => line.includes("asked again 3"))).toEqual([
    expect.stringMatching(/^\d\d:\d\d:\d\d\.\d{3} {2}Event .+ asked again 3 times: .+ The last time at \d\d:\d\d:/),
  ]);
});

test("several hits are a list to choose from, and none says how long things are kept and what to try", async () => {
  const { user } = await openApp("/explain?q=evt_482");
  expect(await textAt(".hits h2")).toBe("evt_482 is part of six event ids.");
  expect(document.querySelectorAll(".hits .row")).toHaveLength(6);
  const field = screen.getByLabelText("An id, a key or a value");
  await user.clear(field);
  await user.type(field, "none{Enter}");
  await findWords("Keys are kept until", ".hits .empty");
  expect(document.querySelectorAll(".hits .row").length).toBeGreaterThan(0);
});

test("the run that slipped through is cancelled from here, after asking, and the story goes on with it", async () => {
  const { user, server } = await openApp("/explain?q=48213", (server) =>
    server.answer("POST /api/runs/:run/cancel", { cancelled: true, state: "cancelled" }),
  );
  await user.click(await screen.findByRole("button", { name: "Cancel run 2" }));
  const { getByLabelText, getByRole, text } = await findDialog();
  expect(text()).toContain("Steps that finished stay finished");
  await user.type(getByLabelText("Reason (optional)"), "invoiced twice");
  const before = server.sent("GET /api/explain").length;
  await user.click(getByRole("button", { name: "Cancel run 2" }));
  await waitFor(() => expect(server.sent("GET /api/explain").length).toBeGreaterThan(before));
  expect(server.sent("POST /api/runs/:run/cancel")).toMatchObject([
    { path: `/api/runs/${story.doubled.secondRun}/cancel`, body: { reason: "invoiced twice" } },
  ]);
  expect(document.querySelector("dialog[open]")).toBeNull();
});
