// Everything that could reach outside and is not watched, tried with the real thing: refused, UNPROVEN by its name, and nothing arrives.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { corpusProgram, openThreads, verifyProgram } from "./corpus.suite.ts";

const threads = openThreads();
const folder = mkdtempSync(join(tmpdir(), "idem-ways-out-"));
const marker = join(folder, "marker");
const path = join(folder, "socket");
const fd = openSync(join(folder, "open"), "w");
let arrived = 0;
const arrives = (): void => void arrived++;
const tcp = createServer(arrives);
const local = createServer(arrives);
const udp = createSocket("udp4", arrives);

beforeAll(async () => {
  await Promise.all([
    once(tcp.listen(0, "127.0.0.1"), "listening"),
    once(local.listen(path), "listening"),
    once(udp.bind(0, "127.0.0.1"), "listening"),
  ]);
});
afterAll(async () => {
  tcp.close();
  local.close();
  udp.close();
  await threads.close();
  closeSync(fd);
  rmSync(folder, { recursive: true, force: true });
});

const child = /a child process was started that is not watched: (sh|: >|\.\/not-there|.*thread\.js)/;
const file = /the open file \d+ was written to/;
const waysOut: readonly (readonly [name: string, words: RegExp])[] = [
  ["net.connect", /a socket to 127\.0\.0\.1:\d+ was opened/],
  ["net.createConnection", /a socket to 127\.0\.0\.1:\d+ was opened/],
  ["new net.Socket", /a socket to 127\.0\.0\.1:\d+ was opened/],
  ["a local socket", /a socket to \/.*\/socket was opened/],
  ["tls.connect", /a TLS socket to 127\.0\.0\.1:\d+ was opened/],
  ["http2.connect", /an HTTP\/2 session to http:\/\/127\.0\.0\.1:\d+ was opened/],
  ["no SMTP on a mail server's port", /127\.0\.0\.1:2525 was told .* which is not watched/],
  ["the package ws", /a WebSocket to 127\.0\.0\.1:\d+\/live was opened/],
  ["undici's WebSocket", /a WebSocket to 127\.0\.0\.1:\d+\/live was opened/],
  ["undici's EventSource", /a stream of events from 127\.0\.0\.1:\d+\/live was opened/],
  ["undici's upgrade", /a connection to 127\.0\.0\.1:\d+\/ became one of raw/],
  ["undici's connect", /a tunnel by 127\.0\.0\.1:\d+ was opened/],
  ["an upgrade", /a WebSocket to 127\.0\.0\.1:\d+\/ was opened/],
  ["a tunnel", /a tunnel by 127\.0\.0\.1:\d+ was opened/],
  ["a tunnel by new http.ClientRequest", /a tunnel by 127\.0\.0\.1:\d+ was opened/],
  ["dgram.createSocket", /a UDP socket was opened/],
  ["new dgram.Socket", /a UDP socket was opened/],
  ["dns.resolveMx", /the name shop\.example was looked up \(resolveMx\)/],
  ["dns.promises.resolveTxt", /the name shop\.example was looked up \(resolveTxt\)/],
  ["new dns.Resolver", /the name shop\.example was looked up \(resolve\)/],
  ["dns.reverse", /the name 127\.0\.0\.1 was looked up \(reverse\)/],
  ["dns.lookupService", /the name 127\.0\.0\.1 was looked up \(lookupService\)/],
  ["spawn", child],
  ["spawnSync", child],
  ["exec", child],
  ["execSync", child],
  ["execFile", child],
  ["execFileSync", child],
  ["promisify(exec)", child],
  ["promisify(execFile)", child],
  ["fork", child],
  ["new ChildProcess", child],
  ["cluster.fork", child],
  ["new Worker", /a thread was started that is not watched/],
  ["module.register", /module hooks were registered, whose thread is not watched/],
  ["BroadcastChannel", /a channel to other threads was opened that is not watched: others/],
  ["a database nobody gave", /a database was opened that is not watched: .*marker; write databases: \[\{ file: /],
  ["process.dlopen", /a native addon was loaded that is not watched: \/nowhere\/native\.node/],
  [
    "Prisma's own engine, a library",
    /Prisma's own engine was started, which is not watched; give PrismaClient a driver/,
  ],
  [
    "Prisma's own engine, a process",
    /Prisma's own engine was started, which is not watched; give PrismaClient a driver/,
  ],
  ["crypto.setEngine", /a native library was loaded that is not watched: \/nowhere\/engine\.so/],
  ["process.kill", /a signal was sent to process \d+ \(kill\)/],
  ["process._kill", /a signal was sent to process \d+ \(kill\)/],
  ["os.setPriority", /the priority of process 0 was set/],
  ["process.exit", /^exit\(0\) was called, which ends the process/],
  ["process.binding", /process\.binding\("tcp_wrap"\) was asked for/],
  ["v8.writeHeapSnapshot", /a heap snapshot was written, which is not watched: .*marker/],
  ["process.report", /a report of the process was written, which is not watched: .*marker/],
  ["WASI", /a WASI program was started/],
  ["the inspector", /the inspector was opened/],
  ["an open file of others", file],
  ["an open file of others, whole", file],
  ["an open file of others, later", file],
  // Where Node itself has them; a test before this one may have put one into this process.
  ...(Number.parseInt(process.versions.node, 10) >= 22
    ? [["globalThis.WebSocket", /a WebSocket to ws:\/\/127\.0\.0\.1/] as const]
    : []),
  ...("EventSource" in globalThis ? [["globalThis.EventSource", /a stream of events from http:/] as const] : []),
  ...(process.getBuiltinModule?.("node:sqlite") === undefined
    ? []
    : [["node:sqlite", /a database was opened/] as const]),
];

test.each(waysOut)("%s is a way out: refused, and UNPROVEN by its name", async (wayOut, words) => {
  arrived = 0;
  const { port } = tcp.address() as AddressInfo;
  const data = { wayOut, port, path, marker, fd, udp: udp.address().port };
  const event = { name: "corpus/way-out.tried", data };
  const { verdict, findings } = await verifyProgram(threads, corpusProgram("unproven/ways-out.mjs"), {
    event,
    only: [],
  });
  expect(findings.map(({ thing }) => thing).join()).toMatch(words);
  expect(verdict).toBe("UNPROVEN");
  // Anything that had left would be here by now: both ends are on this machine, and two clean runs are over.
  await new Promise((resolve) => setImmediate(resolve));
  expect({ arrived, isMade: existsSync(marker), open: readFileSync(join(folder, "open"), "utf8") }).toEqual({
    arrived: 0,
    isMade: false,
    open: "",
  });
});
