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
  textsOf,
  waitFor,
} from "../../../tests/test-app.tsx";
import { claimName } from "./claim-name.ts";

stopClock();

const { story } = record;
const addressOf = (scope: string, key: string) => `/keys/${encodeURIComponent(claimName({ scope, key }))}`;
const recordedKeys = recorded("GET /api/keys", "layer=event").keys;
const payment = addressOf(`fn:${story.payments}`, story.payment.key);

test("keys of every layer are listed, the most asked for first, with who holds them and how often they answered", async () => {
  const { user, address, server } = await openApp("/keys", (server) =>
    server.answer("GET /api/keys", ({ query }, answer) =>
      query.q === undefined
        ? answer
        : { keys: recordedKeys.filter(({ key }) => key.includes("stripe:evt_1RPpX0c")), next: null, isPartial: false },
    ),
  );
  await waitFor(() => expect(textsOf(".list .row").length).toBeGreaterThan(5));
  expect(textsOf(".list .row")[0]).toMatch(
    /function key.*agency-record-stripe-payment.*pi_3RPq7Lm.*3.*\d+ h \d+ m left/,
  );
  await user.selectOptions(screen.getByLabelText("Layer"), "event");
  await waitFor(() => expect(address().searchParams.get("layer")).toBe("event"));
  await waitFor(() => expect(textsOf(".list .row").every((text) => text.includes("event id"))).toBe(true));
  await user.type(screen.getByLabelText("Part of a key"), "RPPX0C");
  await waitFor(() => expect(textsOf(".list .row")).toEqual([expect.stringContaining("stripe:evt_1RPpX0c")]));
  expect(server.sent("GET /api/keys").at(-1)!.query).toMatchObject({ layer: "event", q: "RPPX0C" });
});

test("who asked for a key is listed with what differed, and it is released only with a reason", async () => {
  const { user, server } = await openApp(payment, (server) =>
    server.answer("POST /api/keys/:scope/:key/release", {
      key: { ...recorded("GET /api/keys").keys[0]!, state: "released" },
    }),
  );
  await findWords("first, started the run");
  expect(textsOf("table")[0]).toContain("other data.amount");
  await user.click(screen.getByRole("button", { name: "Release" }));
  const { getByLabelText, getByRole, text } = await findDialog();
  expect(text()).toContain("The next event with this key will start a run. Destination keys stay the same.");
  const act = getByRole("button", { name: "Release the key" });
  expect(act).toHaveProperty("disabled", true);
  await user.type(getByLabelText("Reason"), "refunded by hand");
  await user.click(act);
  await findWords("was released");
  const [sent] = server.sent("POST /api/keys/:scope/:key/release");
  expect(sent).toMatchObject({ body: { reason: "refunded by hand" } });
  expect(decodeURIComponent(sent!.path)).toContain(story.payment.key);
});

test("a key that was released says so and cannot be released again", async () => {
  await openApp(payment, (server) =>
    server.answer("GET /api/keys/:scope/:key", (_, answer) => ({
      ...answer,
      key: { ...answer.key, state: "released" as const, isTaken: false },
    })),
  );
  await waitFor(() => expect(textsOf(".window-bar")).toEqual(["released"]));
  expect(screen.queryByRole("button", { name: "Release" })).toBeNull();
});

test("a key nobody holds says so", async () => {
  await openApp(addressOf("fn:none", "7"));
  await findWords("Nobody holds this key");
});
