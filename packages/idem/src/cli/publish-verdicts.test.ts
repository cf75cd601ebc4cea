// Publishing: what, to whom, and with which key; that verifying leads here is shown in verify.integration.test.ts.
import { expect, test } from "vitest";
import { nodePlatform } from "../platform/node-platform.ts";
import { testKeys, testServer } from "../server/test-server.suite.ts";
import type { ShownFinding, VerifiedFunction } from "../verify/report.ts";
import type { Context } from "./command.ts";
import { givenVerdictOf, publishVerdicts } from "./publish-verdicts.ts";

const secret = "sk_live_4242";
const place = { file: "/home/ann/shop/src/charge.ts", line: 14, column: 3 };
const finding = {
  verdict: "DOUBLED",
  kind: "DOUBLED",
  id: "6f3c0a6be8b1d2f4",
  isKnown: false,
  thing: `two of api.example/${secret}`,
  effect: `POST api.example/${secret}`,
  step: `step-${secret}`,
  place,
  schedule: "die-after-effect:1",
  seed: 1,
  timeline: [{ at: 0, text: secret }],
  event: { name: "order/paid", data: { card: secret } },
  mend: { text: secret, edits: [] },
  because: secret,
  repeat: `idem verify --event ${secret}`,
} as const satisfies ShownFinding;

const verified: VerifiedFunction = {
  id: "charge",
  fn: "test-charge",
  verdict: "DOUBLED",
  schedules: 35,
  unplayed: 0,
  effects: 1,
  commits: 3,
  notes: [secret],
  findings: [finding, { ...finding, verdict: "ACCEPTED" }],
  outdated: [secret],
  place,
  event: { name: secret, from: secret },
  tookMs: 1,
};
const on = { fn: { fn: "test-charge", env: "default", code: "abcdefghij" }, verified };
const shorten = (file: string) => file.replace("/home/ann/shop/", "");

test("nothing of events, answers, requests or notes is published", () => {
  const given = givenVerdictOf(on, 7, shorten);
  expect(JSON.stringify(given)).not.toContain(secret);
  const line = { file: "src/charge.ts", line: 14 };
  const shown = { id: finding.id, kind: "DOUBLED", isAccepted: false, place: line, schedule: "die-after-effect:1" };
  expect(given).toEqual({
    function: "test-charge",
    verdict: "DOUBLED",
    schedules: 35,
    effects: 1,
    findingCount: 2,
    findings: [shown, { ...shown, isAccepted: true }],
    place: line,
    code: "abcdefghij",
    at: 7,
  });
});

test("that a function holds is not published where some of its schedules were not played", async () => {
  const said: string[] = [];
  const context = { now: () => 0, remark: (line: string) => said.push(line) } as unknown as Context;
  const part = { ...on, verified: { ...verified, verdict: "HELD", findings: [], unplayed: 7 } } as const;
  await publishVerdicts(context, { kind: "file", path: "/nowhere" }, [part], shorten);
  expect(said).toEqual([expect.stringContaining("charge is not published: 7 of its schedules were not played")]);
});

test("a server takes verdicts from its signing key and its operators, not from strangers and viewers", async () => {
  const passwords = { password: "open sesame tonight", viewerPassword: "look but not touch" };
  const keys = { eventKeys: [testKeys.event], signingKeys: [testKeys.signing] };
  const server = await testServer({ mode: "start", ...keys, ...passwords });
  await server.define("charge", { event: "order/paid" }, async () => null);
  const publish = async (env: Record<string, string>, url = server.origin): Promise<string> => {
    const said: string[] = [];
    const io = { platform: nodePlatform, env: (name: string) => env[name] };
    const context = {
      io,
      now: () => 1_800_000_000_000,
      remark: (line: string) => said.push(line),
    } as unknown as Context;
    const error = await publishVerdicts(context, { kind: "idem-server", url }, [on], shorten).catch(String);
    return String(error ?? said);
  };
  expect(await publish({ IDEM_SIGNING_KEY: testKeys.signing })).toContain(`1 verdict is published to ${server.origin}`);
  expect(await publish({ IDEM_PASSWORD: passwords.password })).toContain("1 verdict is published");
  expect(await publish({ IDEM_PASSWORD: passwords.viewerPassword })).toContain("viewer, can look but not act");
  expect(await publish({ IDEM_SIGNING_KEY: testKeys.otherSigning })).toContain(
    "does not know who asks, or does not let them",
  );
  expect(await publish({})).toContain("does not know who asks, or does not let them");
  expect(await publish({}, "http://ann:secret@127.0.0.1:1")).toContain("IDEM_PASSWORD");
  const authorization = `Bearer ${testKeys.signing}`;
  const { json } = await server.ask("/api/functions", { headers: { authorization } });
  expect(json.functions).toMatchObject([{ id: "charge", verdict: { verdict: "DOUBLED", by: "password" } }]);
  const { json: audit } = await server.ask("/api/audit", { headers: { authorization } });
  const entries = audit.entries.filter(({ subject }: { subject: string }) => subject === "verdict:test-charge");
  expect(entries.map(({ actor }: { actor: string }) => actor)).toEqual(["password", "signing key of default"]);
});
