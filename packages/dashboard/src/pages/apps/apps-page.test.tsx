// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { findDialog, findWords, openApp, screen, stopClock } from "../../../tests/test-app.tsx";

stopClock();

test("without an app the page says how one is connected", async () => {
  await openApp("/apps");
  await findWords("No app calls this server, and none is called by it");
  await findWords("IDEM_SERVER=");
});

test("an app that cannot be reached is refused with the reason, and the dialog stays open", async () => {
  const detail = "The app at http://127.0.0.1:9/api/inngest could not be reached";
  const { user, server } = await openApp("/apps", (server) =>
    server.refuse("POST /api/apps", { status: 502, code: "APP_UNREACHABLE", detail, next: "See whether it runs" }),
  );
  await user.click(await screen.findByRole("button", { name: "Add an app" }));
  const { getByLabelText, getByRole, findByRole } = await findDialog();
  await user.type(getByLabelText("Serve address"), "http://127.0.0.1:9/api/inngest");
  await user.click(getByRole("button", { name: "Ask it for its functions" }));
  expect((await findByRole("alert")).textContent).toContain("127.0.0.1:9");
  expect(server.sent("POST /api/apps")).toMatchObject([{ body: { url: "http://127.0.0.1:9/api/inngest" } }]);
});
