// Ways out that have a side entrance.
import { execFile } from "node:child_process";
import { createSocket } from "node:dgram";
import dns from "node:dns";
import { connect } from "node:http2";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

const ways = {
  "execFile by promisify": () => promisify(execFile)("true"),
  resolver: async () => new dns.promises.Resolver().resolveMx("example.com"),
  udp: async () => createSocket("udp4"),
  http2: async () => connect("https://api.example.com"),
  thread: async () => new Worker("1", { eval: true }),
};

idem.createFunction({ id: "doors" }, { event: "crm/placement.made" }, async ({ step }) => {
  await step.run("try", async () => {
    for (const way of Object.values(ways)) await way().catch(() => {});
  });
});
