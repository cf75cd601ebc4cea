// Settings of people are kept by kind and name, and two who change one at once do not overwrite each other.
import { describe, expect, test } from "vitest";
import { limitKind } from "../settings.ts";
import { env, everyWrite, fn, type OpenStore, openWorld } from "./world.ts";

const source = (name: string, value: string | null, over: number | null = null) => ({
  env,
  kind: "source",
  name,
  value,
  over,
  reason: "test",
});

export function settingsSuite(open: OpenStore): void {
  describe("settings", () => {
    test("what was put is listed by name, its own kind and environment only", async () => {
      const { store } = await openWorld(open);
      await store.set(source("b", "{}"));
      await store.set(source("a", '{"x":1}'));
      await store.set({ ...source("c", "{}"), kind: "other" });
      await store.set({ ...source("d", "{}"), env: "other" });
      const listed = await store.reads.settings(env, "source");
      expect(listed).toMatchObject([
        { kind: "source", name: "a", value: '{"x":1}', version: 1 },
        { kind: "source", name: "b", value: "{}", version: 1 },
      ]);
      expect(listed[0]!.changedAt).toBeGreaterThan(0);
    });

    test("environments are found by the kinds of settings they have", async () => {
      const { store } = await openWorld(open);
      await store.set(source("a", "{}"));
      await store.set(source("b", "{}"));
      await store.set({ ...source("c", "{}"), env: "another" });
      await store.set({ ...source("d", "{}"), env: "third", kind: "other" });
      expect(await store.reads.settingEnvironments("source")).toEqual(["another", env].sort());
      expect(await store.reads.settingEnvironments("none")).toEqual([]);
    });

    test("a change over a version that is no longer the current one is refused and changes nothing", async () => {
      const { store } = await openWorld(open);
      expect(await store.set(source("a", "1", 0))).toEqual({ kind: "set", version: 1 });
      expect(await store.set(source("a", "2", 0))).toEqual({ kind: "differs", version: 1 });
      expect(await store.set(source("a", "2", 1))).toEqual({ kind: "set", version: 2 });
      expect(await store.set(source("a", "3", 1))).toEqual({ kind: "differs", version: 2 });
      expect(await store.reads.settings(env, "source")).toMatchObject([{ value: "2", version: 2 }]);
    });

    test("of many who put the same name at once one wins", async () => {
      const { store } = await openWorld(open);
      const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => store.set(source("a", `${i}`, 0))));
      expect(answers.filter(({ kind }) => kind === "set")).toHaveLength(1);
    });

    test("a removed one is gone, and can be put again", async () => {
      const { store } = await openWorld(open);
      await store.set(source("a", "1"));
      expect(await store.set(source("a", null))).toEqual({ kind: "set", version: 0 });
      expect(await store.reads.settings(env, "source")).toEqual([]);
      expect(await store.set(source("a", "1", 0))).toEqual({ kind: "set", version: 1 });
    });

    test("a function's limit is read with it, grows the registration exactly when it changes, and is audited as the function's", async () => {
      const { store } = await openWorld(open);
      await store.register({ env, app: "shop", functions: [{ fn, id: "bill", config: "{}", crons: [] }] });
      const at = async () => {
        const { registration, functions } = await store.reads.functions(env);
        return [registration, functions[0]!.limits];
      };
      const limit = (value: string | null) =>
        store.set({ env, kind: limitKind, name: fn, value, over: null, reason: "month end", actor: "ann" });
      const [before] = await at();
      expect(await at()).toEqual([before, null]);
      await limit("[1]");
      await limit("[1]");
      expect(await at()).toEqual([(before as number) + 1, "[1]"]);
      await limit(null);
      expect(await at()).toEqual([(before as number) + 2, null]);
      const { rows } = await store.reads.auditPage(env, { limit: 5 });
      expect(rows.map(({ action, subject }) => `${action} ${subject}`)).toEqual([
        `change-limit ${fn}`,
        `change-limit ${fn}`,
      ]);
    });

    everyWrite(
      open,
      "a setting",
      async ({ store }) =>
        () =>
          store.set(source("a", "1", 0)),
    );
  });
}
