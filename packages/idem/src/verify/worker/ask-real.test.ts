// A sandbox that is really asked.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { askReal } from "./ask-real.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serve(
  headers: Readonly<Record<string, string>>,
): Promise<{ host: string; heard: IncomingHttpHeaders[] }> {
  const heard: IncomingHttpHeaders[] = [];
  const server = createServer((request, answer) => {
    heard.push(request.headers);
    const isFinal = headers.location === undefined || request.url === "/final";
    answer.writeHead(isFinal ? 200 : 302, { connection: "close", ...(isFinal ? {} : headers) }).end("{}");
  });
  servers.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

const secrets = { authorization: "Bearer mine", cookie: "session=mine", "proxy-authorization": "Basic mine" };
const ask = (host: string, hosts: readonly string[]) =>
  askReal(
    { method: "GET", url: new URL(`http://${host}/`), headers: { ...secrets, accept: "application/json" }, body: "" },
    hosts,
  );

test("a host that another one sends to is not told what was meant for that one, though both may be asked", async () => {
  const second = await serve({});
  const first = await serve({ location: `http://${second.host}/there` });
  expect(await ask(first.host, [first.host, second.host])).toMatchObject({ status: 200 });
  expect(first.heard[0]).toMatchObject(secrets);
  expect(second.heard[0]).toMatchObject({ accept: "application/json" });
  for (const name of Object.keys(secrets)) expect(second.heard[0]).not.toHaveProperty(name);
});

test("a host that sends to another address of its own is told it again", async () => {
  const only = await serve({ location: "/final" });
  expect(await ask(only.host, [only.host])).toMatchObject({ status: 200 });
  expect(only.heard).toHaveLength(2);
  expect(only.heard[1]).toMatchObject(secrets);
});
