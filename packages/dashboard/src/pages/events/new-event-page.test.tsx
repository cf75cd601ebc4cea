// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { recorded } from "../../../tests/recorded-server.ts";
import { findWords, openApp, record, screen, stopClock, textsOf, waitFor, within } from "../../../tests/test-app.tsx";
import type { Answer } from "../../api/client.ts";

stopClock();

const { ids, story } = record;

type Sent = Answer<"POST /api/events">;
type SentDecision = Sent["decisions"][number];

const decisionOf = (over: Partial<SentDecision>): SentDecision => ({
  ...recorded("GET /api/events/:event", story.payment.event).decisions[0]!,
  ...over,
});
const started = (name: string): Sent => ({
  ids: [ids.other],
  decisions: [decisionOf({ kind: "started", function: name })],
  unmatched: false,
});

test("a test event that is sent twice shows on the spot that the second time nothing ran", async () => {
  let times = 0;
  const { user, server } = await openApp("/events/new?name=stripe/payment.succeeded", (server) =>
    server.answer("POST /api/events", () =>
      times++ === 0
        ? started(story.payments)
        : { ids: [ids.other], decisions: [decisionOf({ kind: "duplicate-event" })], unmatched: false },
    ),
  );
  const data = await screen.findByLabelText("Data");
  await user.clear(data);
  await user.type(data, '{{"payment": "pi_test", "amount": 900}');
  await user.click(screen.getByRole("button", { name: "Send it twice" }));
  await waitFor(() => expect(textsOf(".sent")).toHaveLength(2));
  const [first, second] = textsOf(".sent");
  expect(first).toContain("started a run");
  expect(second).toContain("duplicate, its id came before");
  const [one, two] = server.sent("POST /api/events").map(({ body }) => body.events[0]);
  expect(one).toMatchObject({ name: "stripe/payment.succeeded", data: { payment: "pi_test", amount: 900 } });
  expect(two).toEqual(one);
  expect(one.id).toBeTypeOf("string");
});

test("an event with a schema has a form, which tells at the field what does not fit, and the app decides all the same", async () => {
  const { user, server } = await openApp("/events/new?name=billing/invoice.asked", (server) =>
    server.answer("POST /api/events", started("agency-write-invoice")),
  );
  await user.type(await screen.findByLabelText("invoice (required)"), "INV-7");
  expect(screen.getByLabelText("currency")).toHaveProperty("value", '"eur"');
  await user.type(screen.getByLabelText("amount (required)"), "12a");
  await user.type(screen.getByLabelText("dueOn"), "soon");
  const fieldOf = (label: string) => screen.getByLabelText(label).closest(".field")!.textContent;
  // Mistakes are shown once the field is left, not while it is typed; missing fields, once a person wants to send.
  await waitFor(() => expect(fieldOf("amount (required)")).toContain("It must be a number"));
  const name = within(screen.getByRole("group", { name: "buyer (required)" })).getByLabelText("name (required)");
  expect(name.getAttribute("aria-invalid")).toBe("false");
  await user.click(screen.getByRole("button", { name: "Send" }));
  await findWords("Nothing was sent: 3 fields do not fit");
  expect(server.sent("POST /api/events")).toEqual([]);
  expect(document.activeElement?.getAttribute("aria-invalid")).toBe("true");
  expect(fieldOf("dueOn")).toContain("It must be a date, such as 2026-05-17");
  await user.type(name, "Ann");
  await user.clear(screen.getByLabelText("amount (required)"));
  await user.type(screen.getByLabelText("amount (required)"), "12.50");
  await user.click(screen.getByRole("button", { name: "Add to lines" }));
  // The keyboard is where the new entry is.
  await user.keyboard("One placement");
  await user.type(screen.getByLabelText("reference"), "{{ not yet");
  // Both ways nothing is lost: what is typed as JSON stands in the form, and half a part waits for its rest.
  await user.click(screen.getByRole("button", { name: "JSON" }));
  const json = screen.getByLabelText<HTMLTextAreaElement>("Data").value;
  expect(json).toContain('"amount": 12.50,');
  expect(json).toContain('"lines": ["One placement"]');
  expect(textsOf(".told li")).toEqual([
    "dueOn it must be a date, such as 2026-05-17",
    "reference this is not JSON yet; what stood there before would be sent",
  ]);
  await user.click(screen.getByRole("button", { name: "Form" }));
  expect(screen.getByLabelText("reference")).toHaveProperty("value", "{ not yet");
  await user.clear(screen.getByLabelText("reference"));
  await user.type(screen.getByLabelText("reference"), "41");
  await user.click(screen.getByRole("button", { name: "Send anyway" }));
  await findWords("started a run", ".sent");
  expect(document.querySelectorAll(".told")).toHaveLength(0);
  expect(server.sent("POST /api/events")[0]!.body.events[0].data).toMatchObject({ invoice: "INV-7", amount: 12.5 });
});

test("a saved payload stands in the form as it was saved, and what the schema would begin with does not replace it", async () => {
  const { user, address } = await openApp("/events/new?name=billing/invoice.asked");
  await user.type(await screen.findByLabelText("invoice (required)"), "INV-9");
  await user.selectOptions(screen.getByLabelText("currency"), "usd");
  await user.type(screen.getByLabelText("Save this one as"), "in dollars");
  await user.click(screen.getByRole("button", { name: "Save" }));
  await user.clear(screen.getByLabelText("invoice (required)"));
  await user.selectOptions(await screen.findByLabelText("Use one"), "in dollars");
  await waitFor(() => expect(address().searchParams.get("saved")).toBe("in dollars"));
  await waitFor(() => expect(screen.getByLabelText("invoice (required)")).toHaveProperty("value", "INV-9"));
  expect(screen.getByLabelText("currency")).toHaveProperty("value", '"usd"');
});
