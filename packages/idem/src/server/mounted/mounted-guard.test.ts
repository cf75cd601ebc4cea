// Admission where no `authorize` is given, and the pages that may change something.
import { createServer, request as nodeRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { noteAddress } from "../../sdk/request-address.ts";
import { fetchListener } from "../../serve/fetch-listener.ts";
import { mounted, shop, told } from "./mounted.suite.ts";

function inEnvironment(name: string | undefined): void {
  vi.stubEnv("NODE_ENV", name);
  onTestFinished(() => void vi.unstubAllEnvs());
}

async function askFrom(address: string | null, host: string, headers: Record<string, string> = {}) {
  const { handle } = mounted({ dev: true });
  const request = new Request(`http://${host}/idem/api/session`, { headers });
  if (address !== null) noteAddress(request, address);
  const { status, json } = await told(await handle(request));
  return status === 200 ? json.actor : json.code;
}

test("mounted without saying who may look it is refused, in every environment, with the words to write", () => {
  for (const environment of [undefined, "", "development", "test", "production"]) {
    inEnvironment(environment);
    for (const options of [undefined, {}, { dev: false }, { base: "/" }, { authorize: undefined }]) {
      const { idem } = shop();
      expect(() => idem.dashboard(options as never)).toThrow(/The dashboard is closed.*authorize: .*dev: true/s);
    }
  }
});

test("through a proxy that rewrites Host nobody is an operator but whom the application lets in", async () => {
  const { idem } = shop();
  const authorize = (request: Request) => (request.headers.get("cookie") === "admin=1" ? "operator" : null);
  const app = createServer(fetchListener(idem.dashboard({ authorize })));
  const appPort = await listening(app);
  // As nginx does unless told otherwise: the name of where it passes on to, and no word of who asks.
  const proxy = createServer(({ url, headers: { cookie } }, response) => {
    const headers = { host: `localhost:${appPort}`, ...(cookie === undefined ? {} : { cookie }) };
    nodeRequest({ port: appPort, host: "127.0.0.1", path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode!);
      answer.pipe(response);
    }).end();
  });
  const url = `http://127.0.0.1:${await listening(proxy)}/idem/api/session`;
  expect((await fetch(url)).status).toBe(403);
  expect((await fetch(url, { headers: { cookie: "admin=1" } })).status).toBe(200);
});

async function listening(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test("with dev: true this machine's own requests are answered, whatever the environment is called", async () => {
  for (const environment of [undefined, "development", "production"]) {
    inEnvironment(environment);
    expect(await askFrom("127.0.0.1", "127.0.0.1:3000")).toBe("dev");
    expect(await askFrom("::1", "localhost:3000")).toBe("dev");
    expect(await askFrom("::ffff:127.0.0.1", "[::1]:3000")).toBe("dev");
    // A framework does not tell where a request comes from.
    expect(await askFrom(null, "localhost:3000")).toBe("dev");
    // A development server that speaks for this machine says so.
    expect(await askFrom("127.0.0.1", "localhost:3000", { "x-forwarded-for": "::1" })).toBe("dev");
  }
});

test("with dev: true other machines are refused whatever they call themselves", async () => {
  const refused = [
    await askFrom("203.0.113.9", "localhost:3000"),
    await askFrom("127.0.0.1", "localhost:3000", { "x-forwarded-for": "203.0.113.9" }),
    await askFrom("127.0.0.1", "localhost:3000", { "x-forwarded-for": "127.0.0.1, 203.0.113.9" }),
    await askFrom("127.0.0.1", "localhost:3000", { forwarded: "for=127.0.0.1" }),
    // Somebody's DNS points here.
    await askFrom("127.0.0.1", "evil.example:3000"),
    await askFrom(null, "shop.example"),
    await askFrom("", "localhost:3000"),
  ];
  expect(refused).toEqual(refused.map(() => "DASHBOARD_CLOSED"));
});

test("with dev: true a page of another site may lead to a page, and to no data; it may frame and read nothing", async () => {
  const { handle } = mounted({ dev: true });
  const crossSite = async (path: string, mode: string, dest: string) => {
    const headers = { "sec-fetch-site": "cross-site", "sec-fetch-mode": mode, "sec-fetch-dest": dest };
    return (await handle(new Request(`http://localhost:3000${path}`, { headers }))).status;
  };
  expect(await crossSite("/idem/", "navigate", "document")).toBe(200);
  expect(await crossSite("/idem/api/session", "navigate", "document")).toBe(403);
  expect(await crossSite("/idem/", "navigate", "iframe")).toBe(403);
  expect(await crossSite("/idem/api/session", "no-cors", "image")).toBe(403);
  expect(await crossSite("/idem/api/session", "cors", "empty")).toBe(403);
});

test("only pages of the same origin, and tools that show no cookie, change something", async () => {
  const { post } = mounted();
  const codeWith = async (headers: Record<string, string>) =>
    (await post("/idem/api/runs/01J00000000000000000000000/cancel", { reason: "x" }, headers)).json.code;
  const own = "http://shop.example";
  expect(await codeWith({})).toBe("RUN_UNKNOWN");
  expect(await codeWith({ origin: own })).toBe("RUN_UNKNOWN");
  expect(await codeWith({ origin: own, cookie: "session=1", "sec-fetch-site": "same-origin" })).toBe("RUN_UNKNOWN");
  // A proxy that rewrites the host passes the browser's own word on.
  const proxied = { origin: "https://www.shop.example", cookie: "session=1" };
  expect(await codeWith({ ...proxied, "sec-fetch-site": "same-origin" })).toBe("RUN_UNKNOWN");
  expect(await codeWith({ ...proxied, "x-forwarded-host": "www.shop.example" })).toBe("RUN_UNKNOWN");
  const refused = [
    await codeWith({ cookie: "session=1" }),
    await codeWith({ origin: "http://evil.example", cookie: "session=1" }),
    await codeWith({ origin: "http://evil.shop.example" }),
    await codeWith({ origin: "null" }),
    await codeWith({ origin: own, "sec-fetch-site": "cross-site" }),
    await codeWith({ origin: own, "sec-fetch-site": "same-site" }),
  ];
  expect(refused).toEqual(refused.map(() => "ORIGIN_REFUSED"));
});
