// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { recorded } from "../../../tests/recorded-server.ts";
import { findWords, openApp, record, screen, stopClock, textsOf, waitFor } from "../../../tests/test-app.tsx";

stopClock();

const rows = () => textsOf(".audit .row:not(.head)");

test("entries are narrowed by what was done, who did it and words, the address holds the filter, and CSV has what is shown", async () => {
  const { entries } = recorded("GET /api/audit");
  const { user, address, main } = await openApp("/audit", (server) =>
    server.answer("GET /api/audit", ({ query }) => ({
      ...recorded("GET /api/audit"),
      entries: entries.filter(
        ({ action, reason }) =>
          (query.action === undefined || action === query.action) &&
          (query.text === undefined || reason.toLowerCase().includes(query.text.toLowerCase())),
      ),
    })),
  );
  await findWords("<img src=x onerror=alert(1)>");
  expect(main().querySelectorAll("img")).toHaveLength(0);
  expect(rows()).toHaveLength(entries.length);
  await user.selectOptions(screen.getByLabelText("Did"), "cancel-run");
  await waitFor(() => expect(address().searchParams.get("action")).toBe("cancel-run"));
  await waitFor(() => expect(rows()).toHaveLength(1));
  expect(rows()[0]).toContain(`cancelled run ${record.story.sleeping}`);
  await user.click(screen.getAllByRole("link", { name: "dev" })[0]!);
  await waitFor(() => expect(address().searchParams.get("actor")).toBe("dev"));
  await user.keyboard("f");
  await user.keyboard("onerror");
  await waitFor(() => expect(address().searchParams.get("q")).toBe("onerror"));
  const csv = new URL(screen.getByRole("link", { name: "Save as CSV" }).getAttribute("href")!, location.href);
  expect(Object.fromEntries(csv.searchParams)).toMatchObject({
    action: "cancel-run",
    actor: "dev",
    text: "onerror",
    format: "csv",
  });
  await user.click(screen.getByRole("button", { name: /Who dev/ }));
  await waitFor(() => expect(address().searchParams.has("actor")).toBe(false));
});
