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

const { ids, story } = record;

test("one event shows its decisions with the reason, its key and what differed from the first", async () => {
  const { user, address } = await openApp(`/events/${ids.other}`);
  await findWords("duplicate, its key is taken", "table");
  expect(textsOf("table")[0]).toContain("other data.amount");
  await user.click(screen.getByRole("link", { name: "pi_3RPq7Lm" }));
  await waitFor(() => expect(address().pathname).toContain("/keys/"));
  await waitFor(() => expect(textsOf("h1")[0]).toMatch(/function key of agency-record-stripe-payment/i));
});

test("a payload cannot do anything: it is shown as the text it is, the long and the many shortened", async () => {
  const { user, main } = await openApp(`/events/${ids.hostileEvent}`);
  const text = await textAt(".payload");
  expect(text).toContain("<script>window.hacked=1</script>");
  expect(text).toContain("abc‹U+202E›gpj.exe");
  expect(text).toContain("a␀b␛[31m");
  expect(text).not.toContain("x".repeat(500));
  expect(text).toContain("Show all (4.9 KB)");
  expect(textsOf("h2")[0]).toBe("agency/<b>hostile</b>");
  await user.click(screen.getByRole("button", { name: /195 more/ }));
  await findWords("(200 in all)", ".payload");
  expect(main().querySelectorAll("img, script, main b b")).toHaveLength(0);
});

test("resending asks first, says that the id is new, and leads to the new event", async () => {
  const { user, address, server } = await openApp(`/events/${story.payment.event}`, (server) =>
    server.answer("POST /api/events", { ids: [ids.other], decisions: [], unmatched: false }),
  );
  await user.click(await screen.findByRole("button", { name: "Resend" }));
  const { getByRole, text } = await findDialog();
  expect(text()).toContain("under a new id");
  await user.click(getByRole("button", { name: "Resend under a new id" }));
  await waitFor(() => expect(address().pathname).toBe(`/events/${ids.other}`));
  const [sent] = server.sent("POST /api/events");
  expect(sent!.body.events).toMatchObject([{ name: "stripe/payment.succeeded", data: { payment: "pi_3RPq7Lm" } }]);
  expect(sent!.body.events[0].id).toBeUndefined();
});
