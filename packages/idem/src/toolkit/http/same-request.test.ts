// Whether two requests are the same one, with the records in the databases users have.
import { expect, test } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { sqlKeys } from "../keys/sql-keys.ts";
import { eachDatabase } from "../sql/databases.suite.ts";
import { type AskOptions, keyedApi } from "./keyed-api.suite.ts";

eachDatabase((open) => {
  /** Answers with the number of its execution: the same number is a replay. */
  async function api() {
    const keys = sqlKeys((await open()).adapter);
    const made = keyedApi((_, __, count) => new Response(String(count)), { keys, platform: new ManualPlatform() });
    return async (asking: AskOptions): Promise<number> => {
      const response = await made.ask(asking);
      return response.status === 200 ? Number(await response.text()) : response.status;
    };
  }

  test("pitfall 13: a path and a key that join to the text of another path and key have a record of their own", async () => {
    const ask = await api();
    expect(await ask({ path: "/p:q", key: "c" })).toBe(1);
    expect(await ask({ path: "/p", key: "q:c" })).toBe(2);
    expect(await ask({ path: "/p:q", key: "c" })).toBe(1);
  });

  test("pitfall 18: the order of a body's keys is no difference, also of those that differ by case only", async () => {
    const ask = await api();
    expect(await ask({ body: '{"a":1,"A":2}' })).toBe(1);
    expect(await ask({ body: '{"A":2, "a":1}' })).toBe(1);
    expect(await ask({ body: '{"A":1, "a":2}' })).toBe(422);
  });

  test("pitfall 17: numbers beyond 2^53 and a key that stands twice are differences", async () => {
    const ask = await api();
    expect(await ask({ key: "n", body: '{"n":9007199254740993}' })).toBe(1);
    expect(await ask({ key: "n", body: '{"n":9007199254740992}' })).toBe(422);
    expect(await ask({ key: "d", body: '{"a":1,"a":2}' })).toBe(2);
    expect(await ask({ key: "d", body: '{"a":2}' })).toBe(422);
  });

  test("pitfall 21: a token that was refreshed between two tries is no difference", async () => {
    const ask = await api();
    expect(await ask({ headers: { authorization: "Bearer one" } })).toBe(1);
    expect(await ask({ headers: { authorization: "Bearer two" } })).toBe(1);
  });

  test("pitfall 22: an upload whose client draws a new boundary is the same request, and one with another file is not", async () => {
    const ask = await api();
    const form = (file: string): FormData => {
      const made = new FormData();
      made.set("note", "hello");
      made.set("scan", new Blob([file], { type: "image/png" }), "a.png");
      return made;
    };
    expect(await ask({ body: form("bytes") })).toBe(1);
    expect(await ask({ body: form("bytes") })).toBe(1);
    expect(await ask({ body: form("other") })).toBe(422);
  });
});
