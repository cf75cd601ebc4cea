// The owner's local socket, over real files and real sockets.
import { lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { localSocketName, nodeLocalSockets } from "../platform/node-local-sockets.ts";
import { nodePlatform } from "../platform/node-platform.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { Idem } from "./client.ts";
import { openDesk } from "./owner-desk.ts";
import { callOwner, lineCharsMax, openOwnerSocket } from "./owner-socket.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "idem-socket-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function openSocket(file = join(folder(), "shop.db")) {
  writeFileSync(file, "");
  const store = new MemoryStore(nodePlatform);
  const clients = new Map<string, Idem>();
  const clientIn = (env: string) => {
    const client = clients.get(env) ?? new Idem({ id: "shop", env, store, logger: silent });
    clients.set(env, client);
    return client;
  };
  const ask = openDesk({ store, owner: "the owner", actor: "cli on host", clientIn });
  const socket = await openOwnerSocket(nodeLocalSockets, file, ask, nodePlatform);
  onTestFinished(() => socket.close());
  return { file, socket, store, clientIn };
}

async function call(file: string) {
  const owner = await callOwner(nodeLocalSockets, file, nodePlatform, 5_000);
  if (owner === null) throw new Error("nobody answers");
  onTestFinished(() => owner.close());
  return owner.ask;
}

describe("the owner's socket", () => {
  test("send, rerun, cancel, release and prune happen in the owner's store, in the environment asked for", async () => {
    const { file, clientIn } = await openSocket();
    const ask = await call(file);
    clientIn("default").createFunction(
      { id: "pay", idempotency: "event.data.orderId" },
      { event: "order/paid" },
      () => 1,
    );
    expect(await ask("hello", "default", {})).toEqual({ owner: "the owner" });
    const sent = await ask("send", "default", { event: { name: "order/paid", data: { orderId: 7 } } });
    const runId = sent.decisions[0]!.runId!;
    expect((await ask("rerun", "default", { runId })).runId).not.toBe(runId);
    expect(await ask("cancel", "default", { runId, reason: "no" })).toEqual({ cancelled: true });
    expect(await ask("release", "default", { scope: "fn:shop-pay", key: "7", reason: "by hand" })).toEqual({
      answer: "released",
    });
    expect((await ask("send", "staging", { event: { name: "order/paid" } })).unmatched).toBe(true);
    expect(await clientIn("staging").events.list()).toHaveLength(1);
    expect(await ask("prune", "staging", { before: 4_000_000_000_000, after: "" })).toMatchObject({
      deleted: { events: 1 },
    });
  });

  test("pause, resume and what becomes of an event happen there too, and what is no word of ours is refused", async () => {
    const { file, clientIn } = await openSocket();
    const ask = await call(file);
    clientIn("default").createFunction({ id: "pay" }, { event: "order/paid" }, () => 1);
    const fn = "shop-pay";
    expect(await ask("pause", "default", { function: fn, reason: "" })).toMatchObject({ changed: true });
    const ids: string[] = [];
    for (const _ of [1, 2, 3]) ids.push((await ask("send", "default", { event: { name: "order/paid" } })).ids[0]!);
    const [first, second] = ids as [string, string];
    const request = { event: first, verdict: "release", reason: "by hand" } as const;
    expect(await ask("decide", "default", request)).toMatchObject({ function: "pay", kind: "started" });
    await expect(ask("decide", "default", request)).rejects.toMatchObject({ code: "EVENT_NOT_WAITING" });
    const drop = { event: second, verdict: "drop", reason: "", function: fn } as const;
    expect(await ask("decide", "default", drop)).toMatchObject({ kind: "dropped" });
    const resume = { function: fn, reason: "", waiting: "release", next: null } as const;
    for (const wrong of [{ waiting: "perhaps" }, { next: "soon" }, { function: 7 }, { reason: null }]) {
      await expect(ask("resume", "default", { ...resume, ...wrong } as never)).rejects.toMatchObject({
        code: "OPTION_INVALID",
      });
    }
    await expect(ask("decide", "default", { ...request, verdict: "keep" } as never)).rejects.toMatchObject({
      code: "OPTION_INVALID",
    });
    expect(await ask("resume", "default", resume)).toEqual({ changed: true, decided: 1, next: null });
  });

  test("an error comes through as the error it was", async () => {
    const { file } = await openSocket();
    const ask = await call(file);
    await expect(ask("rerun", "default", { runId: "none" })).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
    await expect(ask("send", "default", { event: { name: "" } })).rejects.toMatchObject({ code: "EVENT_INVALID" });
    await expect(ask("drop" as never, "default", {} as never)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(ask("constructor" as never, "default", {} as never)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(ask("cancel", "", { runId: "x", reason: "y" })).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(ask("prune", "e", { before: "x" as never, after: "" })).rejects.toMatchObject({
      code: "OPTION_INVALID",
    });
  });

  test("only its user may open it", async () => {
    const { file } = await openSocket();
    expect(lstatSync(`${file}-sock`).mode & 0o777).toBe(0o600);
  });

  test("only its user may open it from the moment it is there, whatever the process's umask", async () => {
    const modes: number[] = [];
    const listen = Server.prototype.listen;
    const spy = vi.spyOn(Server.prototype, "listen").mockImplementation(function (this: Server, ...given: any[]) {
      const made = Reflect.apply(listen, this, given) as Server;
      // It is bound when listen returns, and reached before anything that follows.
      modes.push(lstatSync(String(this.address())).mode & 0o077);
      return made;
    });
    const before = process.umask(0);
    try {
      const { file } = await openSocket();
      expect(modes).toEqual([0]);
      expect(lstatSync(`${file}-sock`).mode & 0o777).toBe(0o600);
      expect(process.umask()).toBe(0);
    } finally {
      process.umask(before);
      spy.mockRestore();
    }
  });

  test("lines that are no requests are refused, and a line without an end is cut off at its bound", async () => {
    const { file } = await openSocket();
    const talk = (text: string) =>
      new Promise<string>((resolve) => {
        let heard = "";
        const socket = connect(localSocketName(file));
        socket.on("data", (chunk) => {
          heard += chunk;
          if (heard.endsWith("\n")) socket.end();
        });
        socket.on("error", () => {});
        socket.on("close", () => resolve(heard));
        socket.write(text);
      });
    expect(JSON.parse(await talk("not json\n"))).toMatchObject({ ok: false });
    expect(JSON.parse(await talk("[1]\n"))).toMatchObject({ ok: false, code: "OPTION_INVALID" });
    expect(JSON.parse(await talk("null\n"))).toMatchObject({ ok: false, code: "OPTION_INVALID" });
    expect(JSON.parse(await talk("x".repeat(lineCharsMax + 1)))).toMatchObject({ ok: false, code: "OPTION_INVALID" });
    const ask = await call(file);
    expect(await ask("hello", "default", {})).toEqual({ owner: "the owner" });
  });

  test("a dead owner's socket is replaced, and asking a dead owner finds nobody", async () => {
    const file = join(folder(), "shop.db");
    const { socket } = await openSocket(file);
    await socket.close();
    expect(await callOwner(nodeLocalSockets, file, nodePlatform, 1_000)).toBeNull();
    writeFileSync(`${file}-sock`, "left behind");
    expect(await callOwner(nodeLocalSockets, file, nodePlatform, 1_000)).toBeNull();
    await openSocket(file);
    expect(await (await call(file))("hello", "default", {})).toEqual({ owner: "the owner" });
  });

  test("a path too long for a socket leads to a name in the temporary folder, the same for both sides", async () => {
    const deep = join(folder(), "d".repeat(120));
    mkdirSync(deep);
    const { file } = await openSocket(join(deep, "shop.db"));
    expect(localSocketName(file).startsWith(tmpdir())).toBe(true);
    expect(await (await call(file))("hello", "default", {})).toEqual({ owner: "the owner" });
  });

  test("an owner that goes away leaves no asker waiting", async () => {
    const { file, socket } = await openSocket();
    const ask = await call(file);
    await ask("hello", "default", {});
    await socket.close();
    await expect(ask("hello", "default", {})).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});
