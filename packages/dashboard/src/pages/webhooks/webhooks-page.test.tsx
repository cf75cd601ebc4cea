// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { recorded } from "../../../tests/recorded-server.ts";
import { findDialog, findWords, openApp, screen, stopClock, textsOf, waitFor } from "../../../tests/test-app.tsx";

stopClock();

const noSources = { ...recorded("GET /api/webhooks"), sources: [] };
const { source } = recorded("GET /api/webhooks/:name", "stripe");

test("without a source one picks a provider, and comes to the page of the new source", async () => {
  const { user, address, server } = await openApp("/webhooks", (server) =>
    server.answer("GET /api/webhooks", noSources).answer("POST /api/webhooks", { source, secret: null }),
  );
  await findWords("No source yet: pick a provider");
  await user.click(screen.getByRole("button", { name: "Stripe" }));
  const { getByLabelText, getByRole } = await findDialog();
  const add = getByRole("button", { name: "Add the source" });
  expect(add).toHaveProperty("disabled", true);
  await user.type(getByLabelText("Secret"), "whsec_of_the_agency");
  await user.click(add);
  await waitFor(() => expect(address().pathname).toBe("/webhooks/stripe"));
  expect(server.sent("POST /api/webhooks")).toMatchObject([
    { body: { name: "stripe", provider: "stripe", secret: "whsec_of_the_agency" } },
  ]);
});

test("sources are counted: deliveries, new ones, duplicates and what was refused", async () => {
  await openApp("/webhooks");
  await findWords("1 delivery was refused", ".note");
  expect(textsOf("tbody td").slice(1, 5)).toEqual(["3", "1", "1", "1 refused"]);
});

test("a source has its address to paste, and its deliveries are told in words", async () => {
  await openApp("/webhooks/stripe");
  await findWords("/w/stripe", ".address code");
  await findWords("Stripe delivers again for up to 3 d; each delivery is known for 35 d");
  const rows = textsOf("tbody tr");
  expect(rows[0]).toContain("Signature was made with another secret");
  expect(rows[1]).toContain("Genuine, known already: nothing started");
  expect(rows[2]).toContain("Genuine and new");
});

test("a secret that is made here is shown once: after that it stands on no page", async () => {
  const made = "0123456789abcdef".repeat(4);
  const { user, address } = await openApp("/webhooks", (server) =>
    server
      .answer("POST /api/webhooks", { source: { ...source, name: "github" }, secret: made })
      .answer("GET /api/webhooks/:name", recorded("GET /api/webhooks/:name", "stripe")),
  );
  await user.click(await screen.findByRole("button", { name: "Add a source" }));
  const { getByLabelText, getByRole } = await findDialog();
  await user.selectOptions(getByLabelText("Provider"), "github");
  expect(getByLabelText("Name")).toHaveProperty("value", "github");
  await user.click(getByRole("button", { name: "Add the source" }));
  await waitFor(() => expect(textsOf(".secret")).toEqual([made]));
  await user.click(await screen.findByRole("button", { name: "I have stored it" }));
  await waitFor(() => expect(address().pathname).toBe("/webhooks/github"));
  await findWords("/w/stripe", ".address code");
  expect(document.body.innerHTML).not.toContain(made);
});

test("while a secret is rotated the page says so, and the old one is dropped at a click", async () => {
  const { user, server } = await openApp("/webhooks/stripe", (server) =>
    server
      .answer("POST /api/webhooks/:name/secrets", { source, secret: null })
      .answer("DELETE /api/webhooks/:name/secrets/old", { source }),
  );
  await user.click(await screen.findByRole("button", { name: "Rotate the secret" }));
  const { getByLabelText, getByRole } = await findDialog();
  await user.type(getByLabelText("New secret"), "whsec_the_next");
  server.answer("GET /api/webhooks/:name", (_, answer) => {
    const { secrets } = answer.source;
    return { ...answer, source: { ...answer.source, secrets: [...secrets, { ...secrets[0]!, mark: "0badcafe" }] } };
  });
  await user.click(getByRole("button", { name: "Accept the new secret too" }));
  expect(server.sent("POST /api/webhooks/:name/secrets")).toMatchObject([{ body: { secret: "whsec_the_next" } }]);
  await user.click(await screen.findByRole("button", { name: "Drop the old secret" }));
  const drop = await findDialog();
  server.restore("GET /api/webhooks/:name");
  await user.click(drop.getByRole("button", { name: "Drop the old secret" }));
  await screen.findByRole("button", { name: "Rotate the secret" });
});

test("whoever removes a source says why", async () => {
  const { user, address, server } = await openApp("/webhooks/stripe", (server) =>
    server.answer("DELETE /api/webhooks/:name", { removed: "stripe" }),
  );
  await user.click(await screen.findByRole("button", { name: "Remove the source" }));
  const { getByLabelText, getByRole } = await findDialog();
  const remove = getByRole("button", { name: "Remove stripe" });
  expect(remove).toHaveProperty("disabled", true);
  await user.type(getByLabelText("Reason"), "moved to the app");
  await user.click(remove);
  await waitFor(() => expect(address().pathname).toBe("/webhooks"));
  expect(server.sent("DELETE /api/webhooks/:name")).toMatchObject([{ body: { reason: "moved to the app" } }]);
});

test("a source that is not there says so", async () => {
  await openApp("/webhooks/none");
  await findWords('There is no source of webhooks named "none"');
});
