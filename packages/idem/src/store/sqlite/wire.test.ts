// Every contract test again, with each call and answer packed, cloned and unpacked on its way: what crosses between the
// threads must be what was said.
import { expect, test } from "vitest";
import { ManualClock } from "../../platform/manual-clock.ts";
import { storeContract } from "../contract/all.ts";
import type { Store } from "../store.ts";
import { readAnswer } from "./calls.ts";
import { SqliteCore } from "./core.ts";
import { loadMigrations } from "./migrations.ts";
import { noLeaseList, packCall, unpackCall } from "./wire.ts";
import { packAnswer, unpackAnswer } from "./wire-answers.ts";

const migrations = loadMigrations();
const packedAs = new Map<string, number>();

function openPacked(clock: ManualClock): Store {
  const core = new SqliteCore({ path: ":memory:", migrations, clock, owner: "test" });
  const sent = noLeaseList();
  const came = noLeaseList();
  const call = async (name: any, input: unknown[]) => {
    const given = { name, input };
    const packed = packCall(given, sent);
    packedAs.set(String(packed[0]), (packedAs.get(String(packed[0])) ?? 0) + 1);
    const arrived = unpackCall(structuredClone(packed) as unknown[], came);
    expect(arrived).toEqual(given);
    const answer = core.commit([arrived])[0]!;
    const returned = unpackAnswer(given, structuredClone(packAnswer(arrived, answer)));
    expect(returned).toEqual(answer);
    return readAnswer(returned);
  };
  const reads = new Proxy(
    {},
    {
      get:
        (_, name: any) =>
        async (...input: unknown[]) =>
          core.read(name, input),
    },
  );
  return new Proxy({} as Store, {
    get: (_, name: string) => {
      if (name === "then") return undefined;
      if (name === "reads") return reads;
      if (name === "shared") return null;
      if (name === "close") return async () => core.close();
      return (...input: unknown[]) => call(name, input);
    },
  });
}

storeContract("SQLite behind its thread's wire", async () => {
  const clock = new ManualClock();
  return { store: openPacked(clock), clock };
});

test("the hot shapes were really packed", () => {
  for (const shape of ["0", "1", "2", "3", "4", "5"]) expect(packedAs.get(shape)).toBeGreaterThan(0);
});

test("functions that a worker leases for cross once, and again when they change", () => {
  const sent = noLeaseList();
  const came = noLeaseList();
  const functions = ["a", "b"];
  const caps = { a: { slots: [1], throttle: null } };
  const lease = (input: object) => {
    const call = { name: "lease" as const, input: [{ env: "e", worker: "w", max: 1, ...input }] };
    const packed = structuredClone(packCall(call, sent)) as unknown[];
    expect(unpackCall(packed, came)).toEqual(call);
    return packed[4];
  };
  expect(lease({ functions, caps })).toEqual(["a", "b"]);
  expect(lease({ functions, caps })).toBeNull();
  expect(lease({ functions: ["c"], caps })).toEqual(["c"]);
  expect(lease({ functions, caps: {} })).toEqual(["a", "b"]);
});
