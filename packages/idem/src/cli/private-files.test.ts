// Another user of the machine reads nothing of a store: neither its file nor what stands beside it, nor a copy.
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { nodePlatform } from "../platform/node-platform.ts";
import { openStore } from "../sdk/open-store.ts";
import { openInlineStore } from "../store/sqlite/inline-store.ts";
import { loadMigrations } from "../store/sqlite/migrations.ts";
import { storeWorld, temporaryFolder } from "./store-world.ts";

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
/** Every file in the folder, with its mode. */
const modesIn = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, modeOf(join(folder, name))]));
const isClosed = (folder: string) => expect(new Set(Object.values(modesIn(folder)))).toEqual(new Set(["600"]));

describe.skipIf(process.platform === "win32")("files of a store", () => {
  test("a new store is for its user alone: its folders, its file, its logs and its lock", async () => {
    const path = join(temporaryFolder(), "of", "idem", "shop.db");
    const { store } = await openStore(`sqlite:${path}`, nodePlatform);
    await store.set({ env: "default", kind: "k", name: "n", value: "1", over: null, reason: null });
    expect(modesIn(dirname(path))).toEqual({
      "shop.db": "600",
      "shop.db-wal": "600",
      "shop.db-shm": "600",
      "shop.db-owner": "600",
      "shop.db-owner-journal": "600",
    });
    expect([dirname(path), dirname(dirname(path))].map(modeOf)).toEqual(["700", "700"]);
    await store.close();
  });

  test("files an earlier build left open to others are closed when the store is opened; a folder that was there stays", async () => {
    const folder = join(temporaryFolder(), "shared");
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    const path = join(folder, "shop.db");
    const open = () => openInlineStore({ path, migrations: loadMigrations(), clock: nodePlatform, owner: "a test" });
    const before = open();
    await before.close();
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644);
    const again = open();
    isClosed(folder);
    await again.close();
    expect(modeOf(folder)).toBe("755");
  });

  test("backups, what a restore puts in the store's place, what it keeps of the old one, and reports are closed", async () => {
    const { folder, idem, terminal, stop, path } = storeWorld();
    await idem.send({ name: "order/placed", data: {} });
    expect(await terminal.run("backup", "copy.db")).toBe(0);
    await terminal.run("doctor", "--report", "monday.md");
    await stop();
    isClosed(folder);
    // Somebody opened both since.
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o666);
    expect(await terminal.run("restore", "copy.db", "--force")).toBe(0);
    const rest = Object.fromEntries(Object.entries(modesIn(folder)).filter(([name]) => name.startsWith("shop.db")));
    expect(Object.keys(rest).filter((name) => name.startsWith("shop.db.before-"))).toHaveLength(1);
    expect(existsSync(path)).toBe(true);
    expect(new Set(Object.values(rest))).toEqual(new Set(["600"]));
  });

  test("doctor tells which files and folders others can reach", async () => {
    const { folder, path, idem, terminal } = storeWorld();
    await idem.send({ name: "order/placed", data: {} });
    const told = async () =>
      (await terminal.json("doctor")).findings.filter(({ kind }: { kind: string }) => kind === "open-to-others");
    expect(await told()).toEqual([]);
    chmodSync(folder, 0o755);
    expect(await told()).toMatchObject([{ level: "note", facts: { open: [{ path: folder, mode: "rwxr-xr-x" }] } }]);
    chmodSync(path, 0o644);
    expect(await terminal.run("doctor")).toBe(1);
    expect(terminal.written.out).toContain(`${path} is rw-r--r--`);
  });
});
