// The promises of keys, with the records in the databases users have. Where time has to pass, it is taken from the rows.
import { expect, test } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { sqlKeys } from "../keys/sql-keys.ts";
import { eachDatabase } from "../sql/databases.suite.ts";
import { type ApiHandle, type ApiOptions, gate, keyedApi, told } from "./keyed-api.suite.ts";

eachDatabase((open) => {
  let seed = 0;
  async function world(handle: ApiHandle, route: ApiOptions["route"] = {}) {
    const db = await open();
    // Chance is another one in each process; two with the same seed would take each other for themselves.
    const process = (handle: ApiHandle) =>
      keyedApi(handle, {
        keys: sqlKeys(db.another()),
        platform: new ManualPlatform({ seed: ++seed }),
        route: { ...route },
      });
    return { db, process, api: process(handle), age: (ms: number) => db.age("idempotency_keys", ms) };
  }

  // pitfalls 3, 16 and 17
  test("a retry gets the first answer for as long as its window lasts, and another body is refused", async () => {
    const { api, process, age } = await world(() => Response.json({ id: "ch_1" }, { status: 201 }));
    const other = process(() => new Response("other"));
    const body = '{"total":9007199254740993}';
    const first = await api.ask({ body });
    await age(23 * 3_600_000);
    const again = await other.ask({ body });
    expect([again.status, await again.text()]).toEqual([201, await first.text()]);
    expect((await other.ask({ body: '{"total":9007199254740992}' })).status).toBe(422);
    expect(again.headers.get("content-type")).toBe("application/json");
    await age(3_600_000);
    expect(await (await other.ask({ body: "{}" })).text()).toBe("other");
    expect([api.count(), other.count()]).toEqual([1, 1]);
  });

  // pitfalls 4 and 14
  test("no body, an empty one and bytes that are no text come back as they were; one too large is 410", async () => {
    const answers: Record<string, () => Response> = {
      none: () => new Response(null, { status: 204 }),
      empty: () => new Response(""),
      binary: () => new Response(new Uint8Array([0xff, 0xfe, 0x00, 0x80])),
      large: () => new Response(new Uint8Array(5 * 1_024 * 1_024)),
    };
    const { api } = await world((request) => answers[request.headers.get("idempotency-key")!]!());
    const bytes = async (key: string) => {
      const response = await api.ask({ key });
      return [response.status, response.body === null, [...new Uint8Array(await response.arrayBuffer())].length];
    };
    for (const key of ["none", "empty", "binary"]) expect(await bytes(key)).toEqual(await bytes(key));
    expect((await (await api.ask({ key: "large" })).arrayBuffer()).byteLength).toBe(5 * 1_024 * 1_024);
    expect(await told(await api.ask({ key: "large" }))).toMatchObject({ status: 410, kind: "response-gone" });
    expect(api.count()).toBe(4);
  });

  // pitfall 9
  test("keys that differ by case, and callers that differ, have records of their own", async () => {
    const { api } = await world((_, __, count) => new Response(String(count)));
    const asked = [
      await api.ask({ key: "Key-A" }),
      await api.ask({ key: "key-a" }),
      await api.ask({ key: "key-a", as: "bob" }),
      await api.ask({ key: '"key-a"', as: "bob" }),
    ];
    expect(await Promise.all(asked.map((response) => response.text()))).toEqual(["1", "2", "3", "3"]);
  });

  // pitfall 5
  test("a failure after an effect is told again, and one before it releases the key", async () => {
    const { api } = await world(async (request, { beforeEffects }, count) => {
      if (request.headers.get("idempotency-key") === "early") {
        await beforeEffects(() => (count === 2 ? Promise.reject(new Error("not yet")) : undefined));
        return new Response("paid");
      }
      throw new Error("charged, and then this");
    });
    await api.ask({ key: "late" });
    expect((await api.ask({ key: "early" })).headers.get("idempotency-status")).toBe("released");
    expect((await api.ask({ key: "late" })).headers.get("idempotent-replayed")).toBe("true");
    expect(await (await api.ask({ key: "early" })).text()).toBe("paid");
  });

  test("two processes: one executes, the other is told to come back; a late one gets the winner's answer", async () => {
    const [entered, work] = [gate(), gate<Response>()];
    const { api, process, age } = await world(
      () => {
        entered.open();
        return work.opened;
      },
      { onCrash: "rerun", lease: "30s" },
    );
    const other = process((_, { fence }) => new Response(`fence ${fence}`));
    const first = api.ask();
    await entered.opened;
    const conflict = await other.ask();
    expect(conflict.headers.get("retry-after")).toBe("30");
    expect(await told(conflict)).toEqual({ status: 409, kind: "in-flight", retryable: true });
    await age(30_000);
    expect(await (await other.ask()).text()).toBe("fence 2");
    work.open(new Response("too late"));
    const late = await first;
    expect([late.headers.get("idempotent-replayed"), await late.text()]).toEqual(["true", "fence 2"]);
  });

  test("a key whose claimant died waits for a person where the route parks", async () => {
    const entered = gate();
    const { api, process, age } = await world(() => {
      entered.open();
      return new Promise<Response>(() => {});
    });
    void api.ask();
    await entered.opened;
    await age(60_000);
    const other = process(() => new Response("again"));
    expect(await told(await other.ask())).toEqual({ status: 409, kind: "outcome-unknown", retryable: false });
    const [record] = await other.idempotency.parked();
    expect(await other.idempotency.resolve(record!.id, { response: new Response("paid") })).toBe("resolved");
    expect(await (await other.ask()).text()).toBe("paid");
    expect(other.count()).toBe(0);
    await age(24 * 3_600_000);
    expect(await other.idempotency.reap()).toBe(1);
  });
});
