import { describe, expect, test } from "vitest";
import { IdemError } from "../model/errors.ts";
import { spellingsOf } from "../model/ip-spellings.suite.ts";
import { guardedLookup } from "../platform/guarded-lookup.ts";
import { shownUrl } from "../protocol/app-url.ts";
import { type AddressSettings, checkAppUrl, mayConnect } from "./app-address.ts";

const settings = (over: Partial<AddressSettings> = {}): AddressSettings => ({
  mode: "start",
  allowHosts: [],
  sdkUrls: [],
  ...over,
});

const refusal = (url: string, given: AddressSettings = settings()): string | null => {
  try {
    checkAppUrl(url, given);
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(IdemError);
    expect((error as IdemError).code).toBe("APP_URL_REFUSED");
    return (error as IdemError).message;
  }
};

describe("in start", () => {
  test.each(["https://shop.example/api/inngest", "http://203.0.114.5:3000/x", "https://[2606:4700::1]/x"])(
    "a public address is taken: %s",
    (url) => {
      expect(refusal(url)).toBeNull();
    },
  );

  test.each([
    "http://localhost:3000/api/inngest",
    "http://LOCALHOST./x",
    "http://shop.localhost/x",
    "http://127.0.0.1:3000/x",
    "http://2130706433/x",
    "http://0x7f.1/x",
    "http://017700000001/x",
    "http://0.0.0.0/x",
    "http://[::1]/x",
    "http://[::ffff:127.0.0.1]/x",
    "http://10.1.2.3/x",
    "http://192.168.0.1/x",
    "http://[fd12::1]/x",
  ])("an address of this machine or its network is refused unless it was named: %s", (url) => {
    expect(refusal(url)).toContain("allow it");
  });

  test.each([
    "http://169.254.169.254/latest/meta-data",
    "http://[::ffff:169.254.169.254]/x",
    "http://[fd00:ec2::254]/x",
    "http://[fe80::1]/x",
    "http://224.0.0.1/x",
  ])("a cloud's metadata and what is no machine are refused even when named: %s", (url) => {
    const { hostname } = new URL(url);
    expect(refusal(url, settings({ allowHosts: [hostname], sdkUrls: [url] }))).toContain("no app can be at");
  });

  test("a way to write an IPv6 address that reaches this network, or a cloud's metadata, is found by its text and when it is connected to", () => {
    const named = settings({ allowHosts: ["shop.example"] });
    for (const [address, isNever] of [
      ["::ffff:7f00:1", false],
      ["::ffff:0:a00:1", false],
      ["64:ff9b::c0a8:1", false],
      ["2002:7f00:1::", false],
      ["64:ff9b:1::a00:1", false],
      ["2606:4700::5efe:a00:1", false],
      ["::ffff:a9fe:a9fe", true],
      ["::ffff:0:a9fe:a9fe", true],
      ["64:ff9b::a9fe:a9fe", true],
      ["64:ff9b:1::a9fe:a9fe", true],
      ["64:ff9b:1:a9fe:a9:fe00::", true],
      ["2002:a9fe:a9fe::1", true],
      ["2606:4700::200:5efe:a9fe:a9fe", true],
      ["100::1", true],
      ["5f00::1", true],
      ["4000::1", true],
    ] as const) {
      for (const spelling of spellingsOf(address)) {
        if (!spelling.includes("%")) {
          const words = isNever ? "no app can be at" : "allow it";
          expect([spelling, refusal(`http://[${spelling}]/x`)]).toEqual([spelling, expect.stringContaining(words)]);
        }
        expect([spelling, mayConnect("other.example", spelling, named)]).toEqual([spelling, false]);
        expect([spelling, mayConnect("shop.example", spelling, named)]).toEqual([spelling, !isNever]);
      }
    }
  });

  test("a host that was named is taken, in any of its spellings", () => {
    const allowed = settings({ allowHosts: ["127.0.0.1", "10.0.0.5", "fd12::1", "[fd12::2]", "App.Internal"] });
    for (const url of [
      "http://localhost:3000/x",
      "http://127.0.0.1:9/x",
      "http://[::1]/x",
      "http://10.0.0.5/x",
      "http://[fd12::1]/x",
      "http://[FD12::2]:3000/x",
      "http://app.internal/x",
    ]) {
      expect(refusal(url, allowed)).toBeNull();
    }
    expect(refusal("http://10.0.0.6/x", allowed)).not.toBeNull();
    expect(refusal("http://127.0.0.2/x", allowed)).not.toBeNull();
  });

  test("a host that was named with a port has that port only", () => {
    const allowed = settings({ allowHosts: ["localhost:3000", "app.example:443"] });
    expect(refusal("http://127.0.0.1:3000/x", allowed)).toBeNull();
    expect(refusal("https://app.example/x", allowed)).toBeNull();
    expect(refusal("http://127.0.0.1:6379/x", allowed)).toContain("port 3000 only");
    expect(refusal("http://app.example/x", allowed)).toContain("port 443 only");
  });

  test("the URLs given at start name their hosts", () => {
    const allowed = settings({ sdkUrls: ["http://localhost:3000/api/inngest", "nonsense"] });
    expect(refusal("http://localhost:3000/other", allowed)).toBeNull();
    expect(refusal("http://localhost:3001/api/inngest", allowed)).not.toBeNull();
  });

  test("a suffix names every host below it", () => {
    const allowed = settings({ allowHosts: ["*.svc.internal"] });
    expect(mayConnect("shop.svc.internal", "10.0.0.1", allowed)).toBe(true);
    expect(mayConnect("svc.internal", "10.0.0.1", allowed)).toBe(false);
    expect(mayConnect("evilsvc.internal", "10.0.0.1", allowed)).toBe(false);
  });
});

test.each(["ftp://shop.example/x", "file:///etc/passwd", "nonsense", "http://", "ws://shop.example/x"])(
  "in either mode %s is no URL of an app",
  (url) => {
    expect(refusal(url)).not.toBeNull();
    expect(refusal(url, settings({ mode: "dev" }))).not.toBeNull();
  },
);

test("a password in a URL is refused, and not repeated", () => {
  for (const mode of ["dev", "start"] as const) {
    const message = refusal("https://user:secret@shop.example/x?token=hidden", settings({ mode }));
    expect(message).toContain("password");
    expect(message).not.toContain("secret");
    expect(message).not.toContain("hidden");
  }
  expect(shownUrl("http://shop.example/a?b#c")).toBe("http://shop.example/a");
});

test("dev takes every address", () => {
  for (const url of ["http://localhost:3000/x", "http://10.0.0.1/x", "http://shop.example/x"]) {
    expect(refusal(url, settings({ mode: "dev" }))).toBeNull();
  }
  expect(mayConnect("anything", "10.0.0.1", settings({ mode: "dev" }))).toBe(true);
});

describe("a name is judged by the addresses it has when it is connected to", () => {
  const connectTo = (hostname: string, addresses: string[], given = settings(), all = false) =>
    new Promise<unknown>((resolve) => {
      const lookup = guardedLookup(
        (name, address) => mayConnect(name, address, given),
        (_, take) =>
          take(
            null,
            addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
          ),
      );
      lookup(hostname, { all }, (error, found) => resolve(error ?? found));
    });

  test("only those it may have are handed on", async () => {
    expect(await connectTo("shop.example", ["8.8.8.8"])).toBe("8.8.8.8");
    expect(await connectTo("shop.example", ["10.0.0.1", "8.8.8.8"])).toBe("8.8.8.8");
    expect(await connectTo("shop.example", ["10.0.0.1", "8.8.8.8", "::1"], settings(), true)).toEqual([
      { address: "8.8.8.8", family: 4 },
    ]);
  });

  test("a public name that turned private is refused, with what would allow it", async () => {
    const error = (await connectTo("rebound.example", ["127.0.0.1"])) as Error;
    expect(error.message).toContain('"rebound.example" is at 127.0.0.1');
    expect(error.message).toContain("--allow-host rebound.example");
    expect(await connectTo("rebound.example", ["127.0.0.1"], settings({ allowHosts: ["rebound.example:3000"] }))).toBe(
      "127.0.0.1",
    );
  });

  test("a name of a cloud's metadata is refused whoever named it", async () => {
    const named = settings({ allowHosts: ["metadata.google.internal"] });
    expect(await connectTo("metadata.google.internal", ["169.254.169.254"], named)).toBeInstanceOf(Error);
  });

  test("a name without an address, or a failing lookup, is an error", async () => {
    expect(await connectTo("nobody.example", [])).toBeInstanceOf(Error);
    const failed = await new Promise((resolve) => {
      guardedLookup(
        () => true,
        (_, take) => take(new Error("no such name"), []),
      )("x", {}, (error) => resolve(error));
    });
    expect(failed).toMatchObject({ message: "no such name" });
  });
});
