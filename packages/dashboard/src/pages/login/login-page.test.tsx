// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { findWords, openApp, record, screen, stopClock, waitFor } from "../../../tests/test-app.tsx";
import type { Answer } from "../../api/client.ts";

stopClock();

const wrong = (left: string) => ({ status: 401, code: "SIGN_IN_REFUSED", detail: `Wrong password. ${left}` });

test("what is refused is said in words, as the server says it", async () => {
  const { user, server } = await openApp("/login", (server) =>
    server.refuse("POST /api/session", wrong("4 tries left, then wait 1 minute")),
  );
  await user.type(await screen.findByLabelText("Password"), "open barley{Enter}");
  await findWords("Wrong password. 4 tries left, then wait 1 minute.");
  server.refuse("POST /api/session", {
    status: 429,
    code: "SIGN_IN_LIMITED",
    detail: "Too many tries to sign in. Wait 52 seconds",
  });
  await user.type(screen.getByLabelText("Password"), "open sesame{Enter}");
  await findWords("Too many tries to sign in. Wait 52 seconds.");
});

test("whoever signs in comes back to where they were, and an address of another site is no place to come back to", async () => {
  const session: Answer<"POST /api/session"> = {
    role: "operator",
    actor: "operator session 1",
    csrf: "a word",
    known: "this browser",
    startedAt: record.recordedAt,
    endsAt: record.recordedAt + 3_600_000,
  };
  for (const [to, path] of [
    ["/radar/history", "/radar/history"],
    ["//elsewhere.example/radar", "/"],
  ] as const) {
    const { user, address } = await openApp(`/login?to=${encodeURIComponent(to)}`, (server) =>
      server.answer("POST /api/session", session),
    );
    await user.type((await screen.findAllByLabelText("Password")).at(-1)!, "open sesame{Enter}");
    await waitFor(() => expect(address().pathname).toBe(path));
  }
});

test("a page whose session has ended asks to sign in, and knows where it was", async () => {
  const { address } = await openApp("/radar/rules", (server) =>
    server.refuse("GET /api/radar/rules", { status: 401, code: "SIGNED_OUT", detail: "Nobody is signed in" }),
  );
  await waitFor(() => expect(address().pathname).toBe("/login"));
  expect(address().searchParams.get("to")).toBe("/radar/rules");
});

test("a session that is about to end says so two minutes before, and not earlier", async () => {
  const session = (leftMs: number): Answer<"GET /api/session"> => ({
    role: "operator",
    actor: "operator session 1",
    csrf: "a word",
    startedAt: record.recordedAt - 3_600_000,
    endsAt: record.recordedAt + leftMs,
  });
  await openApp("/settings", (server) => server.answer("GET /api/session", session(110_000)));
  await findWords(/Your session ends in/);
});
