// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { recorded } from "../../../tests/recorded-server.ts";
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
import type { Answer } from "../../api/client.ts";

stopClock();

const { ids, story } = record;
type FunctionItem = Answer<"GET /api/functions">["functions"][number];
const itemOf = (slug: string): FunctionItem =>
  recorded("GET /api/functions").functions.find(({ function: name }) => name === slug)!;

/** Paused a minute ago, with two events that wait. */
const pausedOf = <Of extends Answer<"GET /api/functions/:function">["function"]>(item: Of): Of => ({
  ...item,
  pausedAt: record.recordedAt - 60_000,
  pending: { ...item.pending, paused: 2 },
});

/** The events that start a function, as its dialog asks for them. */
const eventTypesOf = (name: string): Answer<"GET /api/event-types"> => {
  const all = recorded("GET /api/event-types");
  return { ...all, eventTypes: all.eventTypes.filter((each) => each.name === name) };
};

test("a verdict says where it was found, how to repeat it, and that the code is another one now", async () => {
  await openApp(`/functions/${story.drafts}`);
  const text = await textAt(".verdict-part");
  expect(text).toContain("The code that is registered now is another one.");
  expect(text).toContain("src/draft-invoice.ts:14");
  expect(text).toContain(
    "npx idem verify src/draft-invoice.ts --function draft-invoice-from-placement --from-store --schedule die-after-effect:2",
  );
});

test("a function that was never verified says so, with the command that does it", async () => {
  await openApp("/functions/agency-nightly-report");
  const text = await textAt(".verdict-part");
  expect(text).toContain("Never verified");
  expect(text).toContain(`npx idem verify path/to/module.ts --function nightly-report --publish ${location.origin}`);
});

test("one function shows its configuration, its figures and three charts with the same numbers as tables", async () => {
  const { user, address } = await openApp(`/functions/${story.payments}`, (server) =>
    server.answer("GET /api/functions/:function/charts", () =>
      recorded("GET /api/functions/:function/charts", story.payments),
    ),
  );
  const setUp = await textAt(".set-up");
  expect(setUp).toContain("event.data.payment");
  expect(setUp).toContain("event stripe/payment.succeeded");
  await waitFor(() => expect(document.querySelectorAll(".function-charts canvas")).toHaveLength(3));
  expect(screen.getByRole("img", { name: "2 runs completed, none failed" })).toBeTruthy();
  await user.click(screen.getAllByRole("button", { name: "Show as table" })[0]!);
  const table = await screen.findByRole("table", { name: "2 runs completed, none failed" });
  expect(table.querySelectorAll("tr").length).toBeGreaterThan(1);
  // The range stands in the address.
  await user.click(screen.getByRole("button", { name: "7 d" }));
  await waitFor(() => expect(address().searchParams.get("range")).toBe("7d"));
  expect(screen.getByRole("button", { name: "7 d" }).getAttribute("aria-pressed")).toBe("true");
});

test("a schedule shows its next five ticks, and each limit how much of it is taken", async () => {
  await openApp("/functions/agency-nightly-report");
  await waitFor(() => expect(textsOf(".ahead ol li")).toHaveLength(5));
  // Three o'clock in Amsterdam, in winter.
  for (const text of textsOf(".ahead ol li")) expect(text).toContain("02:00:00");
  expect(textsOf(".ahead ul")[0]).toMatch(/Limit\s*0 of 5/);
});

test("a function's page says the same number as its chart, and what its line waits for", async () => {
  const { user, address } = await openApp("/functions/agency-render-image");
  await findWords("4 in line behind concurrency 2", ".note h2");
  await findWords("4 in line", ".function-charts");
  expect(textsOf("main")[0]).not.toContain("could run now");
  await user.click(screen.getByRole("link", { name: "Open the line" }));
  await waitFor(() => expect(address().pathname).toBe("/functions/agency-render-image/line"));
  await findWords("4 in line behind concurrency 2", ".note h2");
  await findWords("2 of 2, full", ".ahead");
});

test("a function that nobody registered says so", async () => {
  await openApp("/functions/none");
  await findWords("No function with this name");
});

test("pausing says that events are kept, and a paused function says since when and how many wait", async () => {
  const item = itemOf(story.payments);
  const { user, server } = await openApp(`/functions/${story.payments}`, (server) =>
    server.answer("POST /api/functions/:function/pause", { changed: true, function: item }),
  );
  await user.click(await screen.findByRole("button", { name: "Pause" }));
  const { getByRole, text } = await findDialog();
  expect(text()).toContain("Its events are kept");
  server.answer("GET /api/functions/:function", (_, answer) => ({
    ...answer,
    function: pausedOf(answer.function),
  }));
  await user.click(getByRole("button", { name: "Pause record-stripe-payment" }));
  await findWords("Paused since");
  await findWords(/Events that wait for a person\s*2/, ".ahead");
  expect(server.sent("POST /api/functions/:function/pause")).toHaveLength(1);
});

test("resuming asks what becomes of the events that came meanwhile", async () => {
  const { user, server } = await openApp(`/functions/${story.payments}`, (server) =>
    server
      .answer("GET /api/functions/:function", (_, answer) => ({
        ...answer,
        function: pausedOf(answer.function),
      }))
      .answer("POST /api/functions/:function/resume", {
        changed: true,
        function: itemOf(story.payments),
        decided: 2,
        next: null,
      }),
  );
  await user.click(await screen.findByRole("button", { name: "Resume" }));
  const { getByRole, getByLabelText } = await findDialog();
  await user.selectOptions(getByLabelText("2 events came while it was paused"), "release");
  server.restore("GET /api/functions/:function");
  await user.click(getByRole("button", { name: "Resume record-stripe-payment" }));
  await screen.findByRole("button", { name: "Pause" });
  expect(server.sent("POST /api/functions/:function/resume")).toMatchObject([{ body: { waiting: "release" } }]);
});

test("invoking it twice with one key starts one run, and says so on the spot", async () => {
  const [decision] = recorded("GET /api/events/:event", story.payment.event).decisions;
  let times = 0;
  const { user, server } = await openApp(`/functions/${story.payments}`, (server) =>
    server
      .answer("GET /api/event-types", eventTypesOf("stripe/payment.succeeded"))
      .answer("POST /api/functions/:function/invoke", () => ({
        eventId: ids.other,
        decisions: [{ ...decision!, kind: times++ === 0 ? ("started" as const) : ("duplicate-key" as const) }],
      })),
  );
  await user.click(await screen.findByRole("button", { name: "Invoke" }));
  const { getByRole, getByLabelText } = await findDialog();
  await user.click(getByRole("button", { name: "Form" }));
  await user.clear(getByLabelText("payment"));
  await user.type(getByLabelText("payment"), "pi_by_hand");
  await user.click(getByRole("button", { name: "Start record-stripe-payment" }));
  await findWords("started a run", ".invoked");
  await user.click(getByRole("button", { name: "Start it again" }));
  await findWords("duplicate, its key is taken", ".invoked");
  const [one, two] = server.sent("POST /api/functions/:function/invoke").map(({ body }) => body);
  expect(one.data).toMatchObject({ payment: "pi_by_hand" });
  expect(two.data).toEqual(one.data);
});

test("a function is invoked with the form of the event that starts it, and words of a schema stay words", async () => {
  const [decision] = recorded("GET /api/events/:event", story.payment.event).decisions;
  const { user, server, main } = await openApp("/functions/agency-write-invoice", (server) =>
    server
      .answer("GET /api/event-types", eventTypesOf("billing/invoice.asked"))
      .answer("POST /api/functions/:function/invoke", {
        eventId: ids.other,
        decisions: [{ ...decision!, kind: "started" }],
      }),
  );
  await user.click(await screen.findByRole("button", { name: "Invoke" }));
  const { findByLabelText, getByLabelText, getByRole, text } = await findDialog();
  await user.type(await findByLabelText("invoice (required)"), "INV-8");
  await user.type(getByLabelText("amount (required)"), "10");
  await user.type(getByLabelText("name (required)"), "Bo");
  expect(text()).toContain("<script>window.hacked=1</script>‹U+202E›gpj");
  await user.click(getByRole("button", { name: "Start write-invoice" }));
  await findWords("started a run", ".invoked");
  expect(server.sent("POST /api/functions/:function/invoke")[0]!.body.data).toMatchObject({
    invoice: "INV-8",
    amount: 10,
    buyer: { name: "Bo" },
  });
  expect(main().querySelectorAll("script")).toHaveLength(0);
});
