import { describe, expect, test } from "vitest";
import { apiWorld, stores } from "../../api/api-world.suite.ts";
import { listAudit } from "./list-audit.ts";
import { listFunctions } from "./list-functions.ts";
import { publishVerdicts } from "./publish-verdicts.ts";

const place = { file: "src/charge.ts", line: 14 };
const doubled = (over: Record<string, unknown> = {}) => ({
  function: "shop-charge",
  verdict: "DOUBLED",
  schedules: 35,
  effects: 1,
  findingCount: 1,
  findings: [{ id: "6f3c0a6be8b1d2f4", kind: "DOUBLED", isAccepted: false, place, schedule: "die-after-effect:1" }],
  place: { file: "src/charge.ts", line: 9 },
  code: "abcdefghij",
  at: 1_000,
  ...over,
});

async function shop(store: string) {
  const world = await apiWorld({ store });
  await world.start({
    charge: { on: "order/paid", run: async () => "charged", options: { onFailure: async () => null } },
    remind: { on: "order/late", run: async () => "reminded" },
  });
  const publish = async (...verdicts: object[]) => {
    const { status, body } = await world.ask(publishVerdicts, { body: { verdicts } });
    return status === 200 ? body.verdicts.map(({ answer }: any) => answer) : [status, body.code];
  };
  const shown = async () => {
    const { functions } = (await world.ask(listFunctions)).body;
    return Object.fromEntries(functions.map((each: any) => [each.id, each.verdict ?? each.verifiedWith]));
  };
  const audit = async () =>
    (await world.ask(listAudit)).body.entries.map(({ subject, actor }: any) => [subject, actor]);
  return { ...world, publish, shown, audit };
}

describe.each(stores)("verdicts over /api on %s", (store) => {
  test("the newest verdict of a function stays, one told twice is one, and each change has its entry in the audit", async () => {
    const { publish, shown, audit, platform } = await shop(store);
    expect(await shown()).toEqual({ charge: null, "charge-failure": "shop-charge", remind: null });
    expect(await publish(doubled())).toEqual(["published"]);
    expect(await publish(doubled(), doubled({ at: 900, verdict: "HELD" }))).toEqual(["same", "older"]);
    const first = (await shown()).charge;
    expect(first).toMatchObject({
      verdict: "DOUBLED",
      schedules: 35,
      by: "dev",
      codeSince: "changed",
      findings: [{ place }],
    });
    expect(await audit()).toEqual([["verdict:shop-charge", "dev"]]);
    expect(await publish(doubled({ at: 1_001, verdict: "UNPROVEN", code: null }))).toEqual(["published"]);
    expect((await shown()).charge).toMatchObject({ verdict: "UNPROVEN", codeSince: "unknown" });
    // A clock that is ahead keeps nobody out for longer than it is now.
    expect(await publish(doubled({ at: platform.wallMs() + 1e9 }))).toEqual(["published"]);
    expect((await shown()).charge.at).toBe(platform.wallMs());
    await platform.advance(1, async () => {});
    expect(await publish(doubled({ at: platform.wallMs(), verdict: "HELD", findings: [], findingCount: 0 }))).toEqual([
      "published",
    ]);
    expect((await shown()).charge.verdict).toBe("HELD");
    expect(await audit()).toHaveLength(4);
  });

  test("a verdict is about the code that is registered, or says that this has changed since", async () => {
    const { publish, shown, store: kept } = await shop(store);
    const { functions } = await kept.reads.functions("default");
    const { fingerprint } = JSON.parse(functions.find(({ fn }) => fn === "shop-charge")!.config);
    await publish(doubled({ code: fingerprint }));
    expect((await shown()).charge.codeSince).toBe("same");
  });
});

test("nothing but the verdict, counts, places and names is taken: whatever else is sent along is refused", async () => {
  const { publish } = await shop("memory:");
  const refused = [400, "REQUEST_INVALID"];
  expect(await publish(doubled({ event: { data: { card: "4242" } } }))).toEqual(refused);
  const finding = doubled().findings[0]!;
  expect(await publish(doubled({ findings: [{ ...finding, timeline: [] }] }))).toEqual(refused);
  expect(await publish(doubled({ verdict: "SAFE" }))).toEqual(refused);
  expect(await publish(doubled({ findings: Array(21).fill(finding) }))).toEqual(refused);
  expect(await publish()).toEqual(refused);
});
