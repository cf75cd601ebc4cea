// @vitest-environment happy-dom
import { expect, test } from "vitest";
import type { RecordedServer } from "../../../tests/recorded-server.ts";
import { recorded } from "../../../tests/recorded-server.ts";
import { findWords, openApp, screen, stopClock, textsOf, waitFor } from "../../../tests/test-app.tsx";

stopClock();

/** A server that nothing has happened on. */
function empty(server: RecordedServer): void {
  const status = recorded("GET /api/status");
  server
    .answer("GET /api/status", { ...status, functions: { count: 0, paused: 0, withoutKey: 0 } })
    .answer("GET /api/events", { events: [], next: null, lookedBackTo: null })
    .answer("GET /api/runs", { runs: [], next: null, isPartial: false, lookedBackTo: null })
    .answer("GET /api/functions", { functions: [] })
    .answer("GET /api/apps", { apps: [], tried: [] })
    .answer("GET /api/totals", (_, answer) => ({
      ...(answer ?? recorded("GET /api/totals")),
      suppressed: 0,
      asked: 0,
    }));
}

test("an empty server says how an app is connected, with its own address, for four kinds of app", async () => {
  const { user } = await openApp("/", empty);
  await findWords("Nothing is connected yet. Four steps, about five minutes", "h2");
  const { origin } = recorded("GET /api/status");
  for (const kind of ["Next.js", "Express", "Inngest app"]) {
    await user.click(screen.getByRole("button", { name: kind }));
    await waitFor(() => expect(textsOf(".snippet pre").join()).toContain(origin));
  }
  await user.click(screen.getByRole("button", { name: "Embedded" }));
  await findWords("idem.dashboard(");
});

test("a store in which something ran shows the overview", async () => {
  await openApp("/");
  await waitFor(() => expect(textsOf("h1")).toEqual(["Overview"]));
});
