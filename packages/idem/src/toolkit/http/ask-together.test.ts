// One asking for many askers: what may be shared, with whom, and what becomes of them when it fails or never comes back.
import { expect, test } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { memoryKeys } from "../keys/memory-keys.ts";
import { AskTogether } from "./ask-together.ts";
import { gate, keyedApi, settle } from "./keyed-api.suite.ts";

/** A store that is asked when told, and answers when told. */
function asked(isForAll: (answer: string) => boolean = () => true) {
  const platform = new ManualPlatform();
  const together = new AskTogether<string>(platform, isForAll);
  const calls: { readonly by: string; answer(answer: string): Promise<void>; fail(): Promise<void> }[] = [];
  const ask = (by: string, what = "k-1") =>
    together.ask(what, () => {
      const answered = gate<string>();
      const failed = gate<never>();
      calls.push({
        by,
        answer: async (answer) => {
          answered.open(answer);
          await settle();
        },
        fail: async () => {
          failed.open(Promise.reject(new Error("away")) as never);
          await settle();
        },
      });
      return Promise.race([answered.opened, failed.opened]);
    });
  return { platform, ask, calls };
}

test("whoever comes while one is asking is answered by one further asking, made after they came", async () => {
  const { ask, calls } = asked();
  const first = ask("first");
  const others = ["b", "c", "d"].map((by) => ask(by));
  await settle();
  expect(calls.map(({ by }) => by)).toEqual(["first"]);
  await calls[0]!.answer("old");
  expect(await first).toBe("old");
  const late = ask("late");
  await settle();
  expect(calls.map(({ by }) => by)).toEqual(["first", "d"]);
  await calls[1]!.answer("new");
  expect(await Promise.all(others)).toEqual(["new", "new", "new"]);
  await calls[2]!.answer("newest");
  expect(await late).toBe("newest");
});

test("what only one may have goes to one, and the others ask again as one", async () => {
  const { ask, calls } = asked((answer) => answer !== "yours");
  const all = ["a", "b", "c", "d"].map((by) => ask(by));
  await settle();
  await calls[0]!.answer("not yours");
  await calls[1]!.answer("yours");
  await calls[2]!.answer("theirs");
  expect(await Promise.all(all)).toEqual(["not yours", "theirs", "theirs", "yours"]);
  expect(calls).toHaveLength(3);
});

test("a failure is told to those it was asked for, and whoever comes after asks anew", async () => {
  const { ask, calls } = asked();
  const first = ask("a");
  const others = [ask("b"), ask("c")];
  const told = Promise.allSettled([first, ...others]);
  await settle();
  await calls[0]!.fail();
  const after = ask("after");
  await calls[1]!.fail();
  expect((await told).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  await calls[2]!.answer("here again");
  expect(await after).toBe("here again");
});

test("an asking that never comes back holds nobody who comes a second later", async () => {
  const { platform, ask, calls } = asked();
  void ask("lost");
  await platform.advance(1_000, settle);
  const later = ask("later");
  await settle();
  await calls[1]!.answer("yes");
  expect(await later).toBe("yes");
});

test("what is asked about different things is asked at once", async () => {
  const { ask, calls } = asked();
  void ask("a", "k-1");
  void ask("b", "k-2");
  await settle();
  expect(calls.map(({ by }) => by)).toEqual(["a", "b"]);
});

test("a hundred duplicates of an answered request ask the store twice", async () => {
  const platform = new ManualPlatform();
  const keys = memoryKeys({ platform });
  let claims = 0;
  const claim: typeof keys.claim = async (ask) => {
    claims++;
    await settle();
    return keys.claim(ask);
  };
  const api = keyedApi(() => new Response("paid"), { platform, keys: { ...keys, claim } });
  await api.ask();
  claims = 0;
  const answers = await Promise.all(Array.from({ length: 100 }, () => api.ask()));
  expect(answers.every(({ headers }) => headers.get("idempotent-replayed") === "true")).toBe(true);
  expect(claims).toBe(2);
  expect(api.count()).toBe(1);
});

test("a claim whose answer was lost is its asker's own, whoever asks meanwhile", async () => {
  const platform = new ManualPlatform();
  const keys = memoryKeys({ platform });
  const slow = gate();
  let claims = 0;
  const claim: typeof keys.claim = async (ask) => {
    const call = ++claims;
    const answer = await keys.claim(ask);
    if (call === 1) throw new Error("connection reset");
    if (call === 2) await slow.opened;
    return answer;
  };
  const api = keyedApi(() => new Response("paid"), { platform, keys: { ...keys, claim } });
  const first = api.ask();
  await settle();
  const second = api.ask();
  await settle();
  await api.advance(50);
  const third = api.ask();
  await settle();
  slow.open();
  expect((await first).headers.get("idempotency-status")).toBe("executed");
  expect((await second).status).toBe(409);
  expect((await third).headers.get("idempotency-status")).toBe("replayed");
  expect(api.count()).toBe(1);
});

test("duplicates with another body are told so, whoever asks beside them", async () => {
  const api = keyedApi(() => new Response("paid"));
  await api.ask();
  const bodies = ['{"total":10}', '{"total":11}', '{"total":10}', '{"total":11}'];
  const answers = await Promise.all(bodies.map((body) => api.ask({ body })));
  expect(answers.map(({ status }) => status)).toEqual([200, 422, 200, 422]);
});
