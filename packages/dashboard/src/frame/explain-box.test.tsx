// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { findWords, openApp, record, screen, stopClock, textsOf, waitFor } from "../../tests/test-app.tsx";
import type { Answer } from "../api/client.ts";

stopClock();

const found: Answer<"GET /api/search"> = {
  runs: [],
  functions: [],
  events: [],
  event: null,
  values: [
    {
      event: "bullhorn/placement.event",
      path: "event.data.placementId",
      value: "48213",
      count: 2,
      isAll: true,
      isKept: false,
      eventId: record.ids.other,
    },
  ],
  unheard: null,
  kept: [],
};

test("what is typed is looked for on every page: Ctrl-K, arrows and Enter", async () => {
  const { user, address, server } = await openApp("/audit", (server) => server.answer("GET /api/search", found));
  await screen.findByRole("combobox", { name: /^Search/ });
  await user.keyboard("{Control>}k{/Control}");
  await user.keyboard("placement 48213");
  await findWords("data.placementId = 48213", ".search-results");
  expect(textsOf(".search-results")[0]).toContain("newest 100 events looked at");
  expect(server.sent("GET /api/search").at(-1)!.query).toEqual({ q: "placement 48213" });
  await user.keyboard("{ArrowDown}");
  await user.keyboard("{Enter}");
  await waitFor(() => expect(address().pathname).toBe("/runs"));
  expect(address().searchParams.get("cel")).toBe("event.data.placementId == 48213");
});

test("while the search looks, its list is marked as busy, and not once what was found is there", async () => {
  let release = () => {};
  const { user, server } = await openApp("/audit", (server) => {
    release = server.hold("GET /api/search", found);
  });
  const list = await screen.findByRole("listbox", { name: "What was found" });
  expect(list.getAttribute("aria-busy")).toBe("false");
  await user.keyboard("/48213");
  await waitFor(() => expect(list.getAttribute("aria-busy")).toBe("true"));
  await waitFor(() => expect(server.sent("GET /api/search")).toHaveLength(1));
  expect(list.getAttribute("aria-busy")).toBe("true");
  release();
  await findWords("data.placementId = 48213", ".search-results");
  await waitFor(() => expect(list.getAttribute("aria-busy")).toBe("false"));
});
