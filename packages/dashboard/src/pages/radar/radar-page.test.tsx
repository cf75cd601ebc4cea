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

stopClock();

const { ids, story } = record;
const alertPath = `/radar/alerts/${ids.alert}`;

test("an alert names what ran twice, what differed, what was made twice, and the line that stops it", async () => {
  await openApp(alertPath);
  await findWords("draft-invoice-from-placement ran twice for 3 placements", ".alert-card h2");
  await findWords("data.eventTypeINSERTED then UPDATED", ".differences");
  await findWords("create-stripe-draft", ".alert-card");
  // Two ids under each other, each a link to its run.
  const first = screen.getByRole("link", { name: "in_1RPq8xA1" });
  expect(first.getAttribute("href")).toBe(`/runs/${story.doubled.firstRun}`);
  expect(screen.getByRole("link", { name: "in_1RPq8xB2" }).getAttribute("href")).toBe(
    `/runs/${story.doubled.secondRun}`,
  );
  expect(await textAt(".suggestion .code .add")).toBe('+ idempotency: "event.data.placementId",');
});

test("with several alerts open each region of the page has a name of its own", async () => {
  await openApp("/radar");
  await findWords("bill-placement ran twice", ".alert-card h2");
  await findWords(/Rule/, ".rule-card");
  const names = screen.getAllByRole("region").map((each) => each.getAttribute("aria-label"));
  await waitFor(() => expect(document.querySelectorAll(".rule-card")).toHaveLength(2));
  expect(new Set(names).size).toBe(names.length);
});

test("an alert of a store that lost writes has the server's words, the missing ids and who found it", async () => {
  const pair = (laterId: string, entity: string, at: number) => ({ laterId, entity, firstId: null, at, verify: null });
  const pairs = [
    pair("survived:p1", '"process 1 on a"', 1_000),
    pair("acknowledged:p1", '"process 1 on a"', 9_000),
    pair("01JZZ4Q8X5T2M7N0B6E3R9V1KD", '"event"', 5_000),
    pair("01JZZ4Q8X5T2M7N0B6E3R9V1KE", '"run end"', 6_000),
  ];
  await openApp(alertPath, (server) =>
    server.answer("GET /api/radar/alerts/:alert", (_, answer) => ({
      ...answer,
      alert: {
        ...answer.alert,
        kind: "store-rollback",
        function: null,
        of: "event" as const,
        title: "The store lost acknowledged writes: from one instant to another",
        next: "Find what was lost, then acknowledge the alert",
        pairCount: 4,
      },
      pairs,
    })),
  );
  await findWords("The store lost acknowledged writes", ".alert-card h2");
  await findWords("Find what was lost, then acknowledge the alert.", ".alert-card");
  await findWords("2 acknowledged writes are known to be missing. Found by process 1 on a.", ".alert-card");
  expect(textsOf(".pair-table tbody th")).toEqual(["event", "run end"]);
  await findWords("01JZZ4Q8X5T2M7N0B6E3R9V1KE", ".pair-table");
  expect(document.querySelector(".pair-table a")).toBeNull();
  expect(screen.getByRole("button", { name: "Acknowledge" })).toBeDefined();
});

test("an alert is acknowledged with a reason, and muted with one only", async () => {
  const { alert } = recorded("GET /api/radar/alerts/:alert", ids.alert);
  const { user, server } = await openApp(alertPath, (server) =>
    server
      .answer("POST /api/radar/alerts/:alert/acknowledge", { alert })
      .answer("POST /api/radar/alerts/:alert/mute", { alert }),
  );
  await user.click(await screen.findByRole("button", { name: "Acknowledge" }));
  const acknowledge = await findDialog();
  await user.type(acknowledge.getByLabelText("Reason"), "Finance corrects these by hand");
  server.answer("GET /api/radar/alerts/:alert", (_, answer) => ({
    ...answer,
    alert: {
      ...answer.alert,
      state: "acknowledged" as const,
      judgedBy: "dev",
      judgedAt: record.recordedAt,
      note: "Finance corrects these by hand",
    },
  }));
  await user.click(acknowledge.getByRole("button", { name: "Acknowledge the alert" }));
  await findWords(/Acknowledged by dev/);
  expect(server.sent("POST /api/radar/alerts/:alert/acknowledge")).toMatchObject([
    { body: { reason: "Finance corrects these by hand" } },
  ]);
  server.restore("GET /api/radar/alerts/:alert");
  await user.click(await screen.findByRole("button", { name: "Mute" }));
  const mute = await findDialog();
  expect(mute.getByRole("button", { name: "Mute the alert" })).toHaveProperty("disabled", true);
  await user.type(mute.getByLabelText("Reason"), "a test of the source");
  await user.click(mute.getByRole("button", { name: "Mute the alert" }));
  await waitFor(() => expect(server.sent("POST /api/radar/alerts/:alert/mute")).toHaveLength(1));
});

test("an alert says where it was sent", async () => {
  await openApp(alertPath, (server) =>
    server.answer("GET /api/radar/alerts/:alert", (_, answer) => ({
      ...answer,
      deliveries: [
        { channel: "ops", at: record.recordedAt, state: "sent" as const, tries: 1, why: null, words: "sent" },
      ],
    })),
  );
  await findWords(/Sent to ops at \d\d:\d\d/, ".alert-card");
});

test("a viewer sees the buttons disabled, with the sentence, and may export", async () => {
  await openApp(alertPath, (server) =>
    server.answer("GET /api/session", { ...recorded("GET /api/session"), role: "viewer" }),
  );
  await waitFor(() => expect(screen.getByRole("button", { name: "Mute" })).toHaveProperty("disabled", true));
  expect(screen.getByRole("button", { name: "Acknowledge" })).toHaveProperty("disabled", true);
  await findWords("Your role can look but not act", ".alert-card");
  expect(screen.getByRole("button", { name: "Export" })).toHaveProperty("disabled", false);
});

test("a new alert is said on whatever page is open, in words, badge and title, and the message leads to it", async () => {
  const { user, digest, address, server } = await openApp("/settings", (server) =>
    server.answer("GET /api/radar/alerts", (_, answer) => ({ ...answer, alerts: [], openCount: 0 })),
  );
  await waitFor(() => expect(document.title).toBe("Settings · Idem"));
  await waitFor(() => expect(document.querySelector(".side-bar .badge")).toBeNull());
  expect(document.querySelectorAll(".message.is-alert")).toHaveLength(0);
  server.answer("GET /api/radar/alerts", (_, answer) => ({
    ...answer,
    alerts: answer.alerts.filter(({ id }) => id === ids.alert),
    openCount: 1,
  }));
  digest({
    alerts: { open: 1, new: [{ id: ids.alert, kind: "doubled-runs", function: story.drafts, pairCount: 3 }] },
  });
  await findWords("draft-invoice-from-placement", ".message.is-alert");
  await findWords(/^1 open alert$/m, ".side-bar .badge");
  await waitFor(() => expect(document.title).toMatch(/^\(1\) Settings · Idem$/));
  await user.click(document.querySelector(".message.is-alert a")!);
  await waitFor(() => expect(address().pathname).toBe(alertPath));
  await waitFor(() => expect(document.querySelectorAll(".message.is-alert")).toHaveLength(0));
});

test("the line is copied; then the page waits for the function to register with this key, and says so when it has", async () => {
  const { user, digest, server } = await openApp(alertPath);
  await user.click(await screen.findByRole("button", { name: "Copy the line" }));
  expect(await navigator.clipboard.readText()).toBe('idempotency: "event.data.placementId",');
  await findWords("Waiting for the function to register with this key…");
  server.answer("GET /api/radar/suggestions/:function", (_, answer) => ({
    ...answer,
    keyExpression: "event.data.placementId",
  }));
  digest({ registration: 9_999 });
  await findWords("This function has a key");
});

test("a suggested key that will not do is left out with a reason, and offered again when that is taken back", async () => {
  const path = `/radar/suggestions/${story.drafts}`;
  const suggestion = recorded("GET /api/radar/suggestions/:function", story.drafts);
  const refusal = {
    expression: "event.data.placementId",
    by: "dev",
    at: record.recordedAt,
    reason: "billed every month",
  };
  const refused = { ...suggestion, expression: null, line: null, leftOut: [refusal] };
  const { user, server } = await openApp(path, (server) =>
    server
      .answer("POST /api/radar/suggestions/:function/refuse", refused)
      .answer("POST /api/radar/suggestions/:function/restore", suggestion),
  );
  await findWords("The field was there in all 6 runs.", ".suggestion");
  await user.click(screen.getByRole("button", { name: "Not this one" }));
  const refuse = await findDialog();
  await user.type(refuse.getByLabelText("Reason"), "billed every month");
  server.answer("GET /api/radar/suggestions/:function", refused);
  await user.click(refuse.getByRole("button", { name: "Leave this key out" }));
  await findWords("Refused by dev: billed every month", ".suggestion");
  await user.click(screen.getByRole("button", { name: "Offer it again" }));
  const restore = await findDialog();
  await user.type(restore.getByLabelText("Reason"), "it is billed once");
  server.restore("GET /api/radar/suggestions/:function");
  await user.click(restore.getByRole("button", { name: "Offer it again" }));
  await findWords('+ idempotency: "event.data.placementId",', ".suggestion");
  expect(server.sent("POST /api/radar/suggestions/:function/refuse")).toMatchObject([
    { body: { reason: "billed every month" } },
  ]);
});

test("a rule is a sentence with blanks whose preview counts before it is made; the default one cannot be removed", async () => {
  const { user, server } = await openApp("/radar/rules", (server) =>
    server
      .answer("GET /api/radar/preview", ({ query }) => ({
        count: query.what === "effects" ? 0 : 3,
        eventCount: query.what === "effects" ? 0 : 31,
        days: 7,
        isAll: true,
        next: null,
      }))
      .answer("PUT /api/radar/rules/:rule", { rule: recorded("GET /api/radar/rules").rules[0]! }),
  );
  await findWords(/our best guess/);
  // That of the channel; the rule has none.
  expect(screen.getAllByRole("button", { name: "Remove" })).toHaveLength(1);
  await user.type(screen.getByLabelText(/^Field, such as/), "event.data.placementId");
  await findWords(/It would have alerted 3 times in 7 days/);
  await user.type(screen.getAllByLabelText("Reason")[0]!, "one draft per placement");
  await user.click(screen.getByRole("button", { name: "Make this rule" }));
  await waitFor(() => expect(server.sent("PUT /api/radar/rules/:rule")).toHaveLength(1));
  expect(server.sent("PUT /api/radar/rules/:rule")[0]!.body).toMatchObject({ reason: "one draft per placement" });
  await user.selectOptions(screen.getByLabelText("Of what"), "effects");
  await findWords("It would have alerted 0 times in 7 days: no step has recorded an effect yet.");
  expect(textsOf("main")[0]).toMatch(/agency-[\w-]+watched closely until \d+ \w+/);
});

test("a channel is tried, changed and removed in the page, and a mistake in its address is said in the dialog", async () => {
  const [channel] = recorded("GET /api/radar/channels").channels;
  const pager = {
    ...channel!,
    name: "pager",
    kind: "webhook" as const,
    host: "http://127.0.0.1:9",
    urlMark: "51939ad8",
  };
  const { user, server } = await openApp("/radar/rules", (server) =>
    server
      .answer("GET /api/radar/channels", (_, answer) => ({ ...answer, channels: [...answer.channels, pager] }))
      .answer("POST /api/radar/channels/:channel/test", { sent: true, why: null })
      .answer("DELETE /api/radar/channels/:channel", { removed: "pager" })
      .refuse("PUT /api/radar/channels/:channel", {
        status: 400,
        code: "REQUEST_INVALID",
        detail: "The address cannot be used: it must begin with https:// or http://",
      }),
  );
  await findWords("ops, the log");
  await user.click(screen.getAllByRole("button", { name: "Send a test message" })[0]!);
  await findWords("Sent a test message to ops.");
  await user.click(screen.getByRole("button", { name: "Change" }));
  const change = await findDialog();
  await user.type(change.getByLabelText("New address (optional)"), "ftp://elsewhere");
  await user.type(change.getByLabelText("Reason"), "it moved");
  await user.click(change.getByRole("button", { name: "Change the channel" }));
  await findWords("it must begin with https:// or http://", "dialog");
  await user.click(change.getByRole("button", { name: "Not now" }));
  await user.click(screen.getAllByRole("button", { name: "Remove" }).at(-1)!);
  const remove = await findDialog();
  await user.type(remove.getByLabelText("Reason"), "only to try it");
  await user.click(remove.getByRole("button", { name: "Remove the channel" }));
  await waitFor(() => expect(server.sent("DELETE /api/radar/channels/:channel")).toHaveLength(1));
});

test("a webhook's secret is shown once, when its channel is made", async () => {
  const [channel] = recorded("GET /api/radar/channels").channels;
  const { user, server } = await openApp("/radar/rules", (server) =>
    server.answer("PUT /api/radar/channels/:channel", {
      channel: { ...channel!, name: "pager", kind: "webhook", host: "http://127.0.0.1:9" },
      secret: "whsec_shown_once",
    }),
  );
  await user.click(await screen.findByRole("button", { name: "Add a channel" }));
  const { getByLabelText, getByRole } = await findDialog();
  await user.selectOptions(getByLabelText("Kind"), "webhook");
  await user.type(getByLabelText("Name"), "pager");
  await user.type(getByLabelText("Address"), "http://127.0.0.1:9/hidden-path");
  await user.type(getByLabelText("Reason"), "a test");
  await user.click(getByRole("button", { name: "Add the channel" }));
  await findWords("whsec_shown_once", "dialog");
  await user.click(screen.getByRole("button", { name: "I have stored it" }));
  await waitFor(() => expect(document.querySelector("dialog[open]")).toBeNull());
  expect(document.body.innerHTML).not.toMatch(/hidden-path|whsec_/);
  expect(server.sent("PUT /api/radar/channels/:channel")).toMatchObject([
    { path: "/api/radar/channels/pager", body: { kind: "webhook", url: "http://127.0.0.1:9/hidden-path" } },
  ]);
});

test("a rule of one's own is removed with a reason", async () => {
  const { rules } = recorded("GET /api/radar/rules");
  const mine = { ...rules[0]!, name: "one-draft", of: "event.data.placementId" };
  const { user, server } = await openApp("/radar/rules", (server) =>
    server
      .answer("GET /api/radar/rules", (_, answer) => ({ ...answer, rules: [...answer.rules, mine] }))
      .answer("DELETE /api/radar/rules/:rule", { removed: "one-draft" }),
  );
  await findWords("Alert when more than 1 run for one placementId within 60 s in every function.");
  await user.click(screen.getAllByRole("button", { name: "Remove" })[0]!);
  const { getByLabelText, getByRole } = await findDialog();
  await user.type(getByLabelText("Reason"), "only to try it");
  await user.click(getByRole("button", { name: "Remove the rule" }));
  await waitFor(() =>
    expect(server.sent("DELETE /api/radar/rules/:rule")).toMatchObject([{ body: { reason: "only to try it" } }]),
  );
});

test("what was judged is in the history, with who and why", async () => {
  await openApp("/radar/history", (server) =>
    server.answer("GET /api/radar/alerts", (_, answer) => ({
      ...answer,
      alerts: answer.alerts.map((alert) => ({
        ...alert,
        state: "muted" as const,
        judgedBy: "dev",
        judgedAt: record.recordedAt,
        note: "a test of the source",
      })),
    })),
  );
  await findWords("a test of the source");
});
