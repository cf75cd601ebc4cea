// Ways out of a process, one for each name: its event says which. What is thrown is swallowed, as careless code does: nobody but the verifier can tell.
import child_process, { execFile } from "node:child_process";
import cluster from "node:cluster";
import crypto from "node:crypto";
import dgram from "node:dgram";
import dns from "node:dns";
import { once } from "node:events";
import fs from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import inspector from "node:inspector";
import module, { createRequire } from "node:module";
import net, { connect } from "node:net";
import os from "node:os";
import tls from "node:tls";
import { promisify } from "node:util";
import v8 from "node:v8";
import { Worker } from "node:worker_threads";
import { Idem } from "idem";
import { Client, EventSource, request, WebSocket } from "undici";
import { WebSocket as WsWebSocket } from "ws";

const require = createRequire(import.meta.url);

/** Until it stands, or not. */
const heard = (emitter) =>
  new Promise((resolve) => {
    for (const name of ["connect", "secureConnect", "open", "error", "close", "message", "upgrade", "response"]) {
      if (typeof emitter.on === "function") emitter.on(name, resolve);
      else emitter.addEventListener(name, resolve);
    }
  });

const touch = ({ marker }) => ["-c", `: > ${marker}`];
const touching = (data) => `: > ${data.marker}`;

const waysOut = {
  "net.connect": ({ port }) => connect(port, "127.0.0.1").write("x"),
  "net.createConnection": ({ port }) => net.createConnection({ port, host: "127.0.0.1" }).write("x"),
  "new net.Socket": ({ port }) => new net.Socket().connect(port, "127.0.0.1").write("x"),
  "a local socket": ({ path }) => net.connect(path).write("x"),
  "tls.connect": ({ port }) => heard(tls.connect({ port, host: "127.0.0.1", rejectUnauthorized: false })),
  "http2.connect": ({ port }) => heard(http2.connect(`http://127.0.0.1:${port}`)),
  "no SMTP on a mail server's port": () => net.connect(2525, "127.0.0.1").write("\x16\x03\x01"),
  "the package ws": ({ port }) => heard(new WsWebSocket(`ws://127.0.0.1:${port}/live`)),
  "undici's WebSocket": ({ port }) => heard(new WebSocket(`ws://127.0.0.1:${port}/live`)),
  "undici's EventSource": ({ port }) => heard(new EventSource(`http://127.0.0.1:${port}/live`)),
  "undici's upgrade": ({ port }) =>
    request(`http://127.0.0.1:${port}/`, { upgrade: "raw", headers: { connection: "upgrade", upgrade: "raw" } }),
  "undici's connect": ({ port }) => new Client(`http://127.0.0.1:${port}`).connect({ path: "db.example:5432" }),
  "an upgrade": ({ port }) =>
    heard(http.get({ port, host: "127.0.0.1", headers: { connection: "Upgrade", upgrade: "websocket" } })),
  "a tunnel": ({ port }) => heard(http.request({ port, host: "127.0.0.1", method: "CONNECT", path: "db:5432" }).end()),
  "a tunnel by new http.ClientRequest": ({ port }) =>
    heard(new http.ClientRequest({ port, host: "127.0.0.1", method: "CONNECT", path: "db:5432" }).end()),
  "globalThis.WebSocket": ({ port }) => heard(new globalThis.WebSocket(`ws://127.0.0.1:${port}`)),
  "globalThis.EventSource": ({ port }) => heard(new globalThis.EventSource(`http://127.0.0.1:${port}`)),
  "dgram.createSocket": ({ udp }) =>
    promisify((done) => dgram.createSocket("udp4").send("x", udp, "127.0.0.1", done))(),
  "new dgram.Socket": ({ udp }) => promisify((done) => new dgram.Socket("udp4").send("x", udp, "127.0.0.1", done))(),
  "dns.resolveMx": () => promisify(dns.resolveMx)("shop.example"),
  "dns.promises.resolveTxt": () => dns.promises.resolveTxt("shop.example"),
  "new dns.Resolver": () => promisify((done) => new dns.Resolver().resolve("shop.example", "SRV", done))(),
  "dns.reverse": () => promisify(dns.reverse)("127.0.0.1"),
  "dns.lookupService": () => promisify(dns.lookupService)("127.0.0.1", 80),
  spawn: (data) => once(child_process.spawn("sh", touch(data)), "exit"),
  spawnSync: (data) => child_process.spawnSync("sh", touch(data)),
  exec: (data) => once(child_process.exec(touching(data)), "exit"),
  execSync: (data) => child_process.execSync(touching(data)),
  execFile: (data) => once(execFile("sh", touch(data)), "exit"),
  execFileSync: (data) => child_process.execFileSync("sh", touch(data)),
  "promisify(exec)": (data) => promisify(child_process.exec)(touching(data)),
  "promisify(execFile)": (data) => promisify(execFile)("sh", touch(data)),
  fork: () => once(child_process.fork("./not-there.mjs"), "exit"),
  "new ChildProcess": (data) => {
    const child = new child_process.ChildProcess();
    child.spawn({ file: "sh", args: ["sh", ...touch(data)] });
    return once(child, "exit");
  },
  "cluster.fork": () => once(cluster.fork(), "exit"),
  "new Worker": ({ marker }) =>
    once(new Worker(`require("fs").writeFileSync(${JSON.stringify(marker)}, "")`, { eval: true }), "exit"),
  "module.register": ({ marker }) =>
    module.register(`data:text/javascript,import fs from "node:fs"; fs.writeFileSync(${JSON.stringify(marker)}, "")`),
  BroadcastChannel: () => new BroadcastChannel("others").postMessage("x"),
  "a database nobody gave": ({ marker }) => new (require("better-sqlite3"))(marker),
  "process.dlopen": () => process.dlopen({ exports: {} }, "/nowhere/native.node"),
  "Prisma's own engine, a library": () =>
    process.dlopen({ exports: {} }, "/nowhere/.prisma/client/libquery_engine-debian-openssl-3.0.x.so.node"),
  "Prisma's own engine, a process": () => child_process.spawn("/nowhere/query-engine-debian-openssl-3.0.x"),
  "crypto.setEngine": () => crypto.setEngine("/nowhere/engine.so"),
  "process.kill": () => process.kill(process.pid, "SIGCONT"),
  "process._kill": () => process._kill(process.pid, 18),
  "os.setPriority": () => os.setPriority(0, 19),
  "process.exit": () => process.exit(0),
  "process.binding": () => process.binding("tcp_wrap"),
  "v8.writeHeapSnapshot": ({ marker }) => v8.writeHeapSnapshot(marker),
  "process.report": ({ marker }) => process.report.writeReport(marker),
  WASI: () => new (require("node:wasi").WASI)({ version: "preview1", preopens: { "/": "/" } }),
  "the inspector": () => inspector.open(0, "127.0.0.1"),
  "node:sqlite": ({ marker }) => new (require("node:sqlite").DatabaseSync)(marker),
  "an open file of others": ({ fd }) => fs.writeSync(fd, "x"),
  "an open file of others, whole": ({ fd }) => fs.writeFileSync(fd, "x"),
  "an open file of others, later": ({ fd }) => promisify(fs.write)(fd, Buffer.from("x")),
};

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "leave", idempotency: { none: "each way out is tried once" } },
  { event: "corpus/way-out.tried" },
  async ({ event, step }) => {
    await step.run("leave", async () => {
      try {
        await waysOut[event.data.wayOut](event.data);
      } catch {
        // Passed over.
      }
    });
  },
);
