// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { findWords, openApp, screen, stopClock, textsOf, waitFor } from "../../../tests/test-app.tsx";
import type { Answer } from "../../api/client.ts";

stopClock();

type EventList = Answer<"GET /api/events">;

test("the log says of each event what was decided, and what came again stands under its first", async () => {
  await openApp("/events");
  await waitFor(() => expect(textsOf(".list .row").length).toBeGreaterThan(10));
  const texts = textsOf(".list .row");
  const at = texts.findIndex((text) => text.includes("stripe:evt_1RP"));
  expect(texts[at]).toContain("started agency-record-stripe-payment");
  expect(texts[at]).toContain("webhook stripe");
  expect(texts[at + 1]).toContain("duplicate of");
  expect(texts.filter((text) => text.includes("duplicate key of agency-record-stripe-payment"))).toHaveLength(3);
  expect(texts.some((text) => text.includes("no function has this trigger"))).toBe(true);
  await waitFor(() => expect(document.title).toMatch(/Events · Idem$/));
});

test("the address holds the filter: it is read from it and written into it, and an empty list says so", async () => {
  const { user, address, server } = await openApp("/events?name=agency%2Fweek.ended", (server) =>
    server.answer("GET /api/events", ({ query }, recorded) =>
      query.name === "nobody/sends.this" ? { events: [], next: null, lookedBackTo: null } : recorded,
    ),
  );
  await waitFor(() => expect(textsOf(".list .row")).toHaveLength(1));
  const name = screen.getByLabelText("Only events of this name");
  expect(name).toHaveProperty("value", "agency/week.ended");
  await user.clear(name);
  await user.type(name, "nobody/sends.this");
  await waitFor(() => expect(address().searchParams.get("name")).toBe("nobody/sends.this"));
  await findWords("No event matches");
  expect(server.sent("GET /api/events").at(-1)!.query).toMatchObject({ name: "nobody/sends.this" });
});

test("events are found by what became of them and by function, and the address keeps it", async () => {
  const { user, address, server } = await openApp("/events", (server) =>
    server.answer("GET /api/events", ({ query }, recorded) =>
      query.fn === undefined ? recorded : { events: [], next: null, lookedBackTo: null },
    ),
  );
  await waitFor(() => expect(textsOf(".list .row").length).toBeGreaterThan(10));
  await user.selectOptions(screen.getByLabelText("Became"), "no function listens");
  await waitFor(() => expect(address().searchParams.get("outcome")).toBe("unheard"));
  await waitFor(() => expect(textsOf(".list .row .what")).toContain("agency/nobody.listens"));
  expect(textsOf(".list .row .decisions").join()).not.toMatch(/started|duplicate key/);
  await user.selectOptions(screen.getByLabelText("Function"), "agency-pay");
  await waitFor(() => expect(address().searchParams.get("fn")).toBe("agency-pay"));
  await findWords("No event matches");
  expect(server.sent("GET /api/events").at(-1)!.query).toMatchObject({ outcome: "unheard", fn: "agency-pay" });
});

test("an event that arrives appears while nobody reads, and waits behind a button while somebody does", async () => {
  let arrived = 0;
  const { user, digest } = await openApp("/events?name=agency%2Fweek.ended", (server) =>
    server.answer("GET /api/events", (_, recorded): EventList => {
      const [first] = recorded.events;
      const newer = Array.from({ length: arrived }, (_, i) => ({
        ...first!,
        internalId: `01ZZZZZZZZZZZZZZZZZZZZZZZ${9 - i}`,
        id: `late-${arrived - i}`,
      }));
      return { ...recorded, events: [...newer.toReversed(), ...recorded.events] };
    }),
  );
  await waitFor(() => expect(textsOf(".list .row")).toHaveLength(1));
  arrived = 1;
  digest();
  await waitFor(() => expect(textsOf(".list .row")).toHaveLength(2));
  await user.hover(document.querySelector(".list .row")!);
  arrived = 2;
  digest();
  const held = await screen.findByText("1 new event");
  expect(textsOf(".list .row")).toHaveLength(2);
  await user.click(held);
  await waitFor(() => expect(textsOf(".list .row")).toHaveLength(3));
});

test("a list that cannot be read says so in the server's words, and is read again at a click", async () => {
  const { user, server } = await openApp("/events", (server) =>
    server.refuse("GET /api/events", {
      status: 503,
      code: "STORE_BUSY",
      detail: "The store is busy",
      next: "Try again",
    }),
  );
  await findWords("The events could not be read. Runs go on.");
  await findWords("The store is busy");
  server.restore("GET /api/events");
  await user.click(screen.getByRole("button", { name: "Try again" }));
  await waitFor(() => expect(textsOf(".list .row").length).toBeGreaterThan(10));
});
