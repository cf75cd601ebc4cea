// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { findDialog, findWords, openApp, record, screen, stopClock, textsOf } from "../../../tests/test-app.tsx";
import type { Answer } from "../../api/client.ts";

stopClock();

const path = "/functions/agency-render-image/line";
type Line = Answer<"GET /api/functions/:function/line">;

test("a line says how long it is, what it waits for and what holds it back", async () => {
  await openApp(path);
  await findWords("4 in line behind concurrency 2", ".note h2");
  await findWords("2 of 2, full", ".ahead");
  expect(textsOf("table")[0]).toMatch(/^RunWaited/);
});

test("a limit is raised for a while from its line, the page says until when, and it is ended there", async () => {
  const until = record.recordedAt + 3_600_000;
  const raised = (answer: Line): Line => ({
    ...answer,
    limits: answer.limits.map((limit) => ({ ...limit, limit: 4, used: 4, until })),
  });
  const { user, server } = await openApp(path, (server) =>
    server
      .answer("PUT /api/functions/:function/limit", { limits: [] })
      .answer("DELETE /api/functions/:function/limit", { limits: [] }),
  );
  await user.click(await screen.findByRole("button", { name: "Raise for a while" }));
  const dialog = await findDialog();
  await user.clear(dialog.getByLabelText("Runs at work at once"));
  await user.type(dialog.getByLabelText("Runs at work at once"), "4");
  await user.type(dialog.getByLabelText("Reason"), "month end");
  server.answer("GET /api/functions/:function/line", (_, answer) => raised(answer));
  await user.click(dialog.getByRole("button", { name: "Raise it to 4" }));
  await findWords("4 of 4, full", ".ahead");
  expect(server.sent("PUT /api/functions/:function/limit")).toMatchObject([
    { body: { concurrency: 4, for: "1h", reason: "month end" } },
  ]);
  await findWords(/^Raised from 2 until .+\. Then 2 counts again by itself\.$/m, ".stands-in");
  await user.click(screen.getByRole("button", { name: "End it now" }));
  const end = await findDialog();
  await user.type(end.getByLabelText("Reason"), "it is done");
  server.restore("GET /api/functions/:function/line");
  await user.click(end.getByRole("button", { name: "Back to 2" }));
  await findWords("2 of 2, full", ".ahead");
  expect(server.sent("DELETE /api/functions/:function/limit")).toMatchObject([{ body: { reason: "it is done" } }]);
});
