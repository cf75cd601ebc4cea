// Permission to have the whole store read, and of which stores.
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../cli/store-world.ts";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import { bearerTokenOf } from "../../protocol/signing-key.ts";
import { openStore } from "../../sdk/open-store.ts";
import { testKeys, testServer } from "../test-server.suite.ts";
import type { World } from "../world.ts";
import { Snapshots } from "./snapshots.ts";
import { StoreCommands } from "./store-commands.ts";

const basic = (password: string) => `Basic ${Buffer.from(`idem:${password}`).toString("base64")}`;

test("a copy of the store is for operators who may see all of it, and of a file; what is only in memory is read by no command", async () => {
  const server = await testServer({
    mode: "start",
    eventKeys: [testKeys.event],
    signingKeys: [testKeys.signing, `staging=${testKeys.otherSigning}`],
    password: "open sesame tonight",
    viewerPassword: "look but not touch",
  });
  const codeOf = async (path: string, authorization: string, body: unknown = { id: "an-id-of-mine" }) => {
    const headers = { authorization, "content-type": "application/json" };
    const { status, json } = await server.ask(path, { method: "POST", headers, body: JSON.stringify(body) });
    return `${status} ${json.code}`;
  };
  const key = `Bearer ${bearerTokenOf(testKeys.signing)}`;
  const operator = basic("open sesame tonight");
  const viewer = basic("look but not touch");
  expect(await codeOf("/api/backup", key)).toBe("403 BACKUP_OF_OTHERS");
  expect(await codeOf("/api/backup/an-id-of-mine", key, { offset: 0 })).toBe("403 BACKUP_OF_OTHERS");
  expect(await codeOf("/api/backup", viewer)).toBe("403 FORBIDDEN_ROLE");
  expect(await codeOf("/api/prune", viewer, { before: 0 })).toBe("403 FORBIDDEN_ROLE");
  expect(await codeOf("/api/backup", operator)).toBe("501 STORE_NOT_BESIDE");
  expect(await codeOf("/api/backup/an-id-of-mine", operator, { offset: 0 })).toBe("404 BACKUP_UNKNOWN");
  expect(await codeOf("/api/backup", operator, { id: "../../etc" })).toBe("400 REQUEST_INVALID");
  // One process at a time reads all of the store: viewers must not keep it busy.
  const counted = { id: "an-id-of-mine", olderThanMs: 1 };
  expect(await codeOf("/api/doctor", viewer)).toBe("403 FORBIDDEN_ROLE");
  expect(await codeOf("/api/prune/count", viewer, counted)).toBe("403 FORBIDDEN_ROLE");
  expect(await codeOf("/api/doctor", operator)).toBe("501 STORE_NOT_BESIDE");
  expect(await codeOf("/api/prune/count", operator, counted)).toBe("501 STORE_NOT_BESIDE");
  const world = { settings: { store: "postgres://idem@db.internal/shop" } } as World;
  await expect(new Snapshots(world).make("default", "an-id-of-mine", async () => {})).rejects.toMatchObject({
    code: "BACKUP_NOT_HERE",
  });
});

test("a copy that takes long is made to its end while somebody asks for it", async () => {
  const address = `sqlite:${join(temporaryFolder(), "shop.db")}`;
  const { store } = await openStore(address, nodePlatform);
  await store.close();
  const platform = new ManualPlatform();
  const snapshots = new Snapshots({ settings: { store: address }, platform } as unknown as World);
  let begun = 0;
  const ask = () => snapshots.make("default", "an-id-of-mine", async () => void begun++);
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  // Minutes of the server's clock, in which the command hardly begins.
  for (let minutes = 0; minutes < 12; minutes += 4) {
    const asked = ask();
    await platform.advance(4 * 60_000, settle);
    await asked;
  }
  expect(await ask()).toMatchObject({ bytes: expect.any(Number) });
  expect(begun).toBe(1);
  snapshots.close();
});

/** Commands that end when they are told to. */
function openCommands() {
  const running: { readonly args: readonly string[]; readonly end: () => void }[] = [];
  const run = (({ args }: { readonly args: readonly string[] }) =>
    new Promise((resolve) => {
      running.push({ args, end: () => resolve({ code: 0, out: "{}", err: "" }) });
    })) as unknown as ConstructorParameters<typeof StoreCommands>[1];
  const world = { settings: { store: "sqlite:/tmp/shop.db" }, platform: new ManualPlatform() } as unknown as World;
  const commands = new StoreCommands(world, run);
  let ids = 0;
  const ask = (env: string, command: string, onlyEnv: string | null) => {
    try {
      void commands.run(env, `id ${++ids}`, [command], { onlyEnv });
      return "begun";
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  return { commands, running, ask };
}

test("a key that has its environment examined again and again keeps no operator from a copy or an examination", async () => {
  const { commands, running, ask } = openCommands();
  for (let n = 0; n < 24; n++) {
    expect(ask("staging", "doctor", "staging")).toBe(n === 0 ? "begun" : "SERVER_BUSY");
    expect(ask("staging", "prune", "staging")).toBe("SERVER_BUSY");
  }
  expect(ask("default", "backup", null)).toBe("begun");
  expect(ask("default", "backup", null)).toBe("SERVER_BUSY");
  expect(ask("default", "doctor", null)).toBe("begun");
  expect(running.map(({ args }) => args[0])).toEqual(["doctor", "backup", "doctor"]);
  running[0]!.end();
  await commands.run("staging", "id 1", ["doctor"], { onlyEnv: "staging" });
  expect(ask("staging", "doctor", "staging")).toBe("begun");
  commands.close();
});

test("keys of many environments leave a place for operators, and push out no answer that another is still to fetch", async () => {
  const { commands, running, ask } = openCommands();
  void commands.run("default", "the operator's", ["doctor"], { onlyEnv: null });
  running[0]!.end();
  await commands.run("default", "the operator's", ["doctor"], { onlyEnv: null });
  const begun = Array.from({ length: 10 }, (_, n) => ask(`env ${n}`, "doctor", `env ${n}`));
  expect(begun.filter((each) => each === "begun")).toHaveLength(3);
  expect(ask("default", "doctor", null)).toBe("begun");
  for (let n = 0; n < 20; n++) {
    for (const each of running) each.end();
    await commands.run("env 0", n === 0 ? "id 1" : `again ${n - 1}`, ["doctor"], { onlyEnv: "env 0" });
    void commands.run("env 0", `again ${n}`, ["doctor"], { onlyEnv: "env 0" });
  }
  const before = running.length;
  await commands.run("default", "the operator's", ["doctor"], { onlyEnv: null });
  expect(running.length).toBe(before);
  commands.close();
});
