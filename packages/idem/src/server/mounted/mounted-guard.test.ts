// Who gets in where nobody says who may, and which pages may change something.
import { expect, onTestFinished, test, vi } from "vitest";
import { noteAddress } from "../../sdk/request-address.ts";
import { mounted, told } from "./mounted.suite.ts";

function inEnvironment(name: string | undefined): void {
  vi.stubEnv("NODE_ENV", name);
  onTestFinished(() => void vi.unstubAllEnvs());
}

async function askFrom(address: string | null, host: string, headers: Record<string, string> = {}) {
  const { handle } = mounted({});
  const request = new Request(`http://${host}/idem/api/session`, { headers });
  if (address !== null) noteAddress(request, address);
  const { status, json } = await told(await handle(request));
  return status === 200 ? json.actor : json.code;
}

test("without authorize, this machine's own requests are answered in development", async () => {
  inEnvironment(undefined);
  expect(await askFrom("127.0.0.1", "127.0.0.1:3000")).toBe("dev");
  expect(await askFrom("::1", "localhost:3000")).toBe("dev");
  expect(await askFrom("::ffff:127.0.0.1", "[::1]:3000")).toBe("dev");
  // A development server that speaks for this machine says so.
  expect(await askFrom("127.0.0.1", "localhost:3000", { "x-forwarded-for": "::1" })).toBe("dev");
});

test("without authorize, other machines are refused whatever they call themselves", async () => {
  inEnvironment("development");
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

test("without authorize, production is closed to everybody", async () => {
  inEnvironment("production");
  expect(await askFrom("127.0.0.1", "127.0.0.1:3000")).toBe("DASHBOARD_CLOSED");
});

test("without authorize and without knowing where a request comes from, the environment must say development", async () => {
  inEnvironment(undefined);
  expect(await askFrom(null, "localhost:3000")).toBe("DASHBOARD_CLOSED");
  inEnvironment("development");
  expect(await askFrom(null, "localhost:3000")).toBe("dev");
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
