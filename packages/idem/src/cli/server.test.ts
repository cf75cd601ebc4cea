import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { nodePlatform } from "../platform/node-platform.ts";
import { startServer } from "../server/start-server.ts";
import { fakeTerminal } from "./fake-terminal.ts";
import { inngestFlags } from "./inngest-flags.ts";
import { temporaryFolder } from "./store-world.ts";

const [one, two] = ["9e41c7d20ab85f36", "d7203b9f5c18e6a4"] as const;
const [stagingKey, prodKey, unknownKey] = [
  "4f2a9c0e7b1d8356af03c9e2517bd864",
  "91c7e04b6da2f385d8027fb1c45e639a",
  "c05e8b3f7a9124d6e1b8f02937a5cd46",
] as const;
const keys = { IDEM_EVENT_KEY: `${one},${two}`, IDEM_SIGNING_KEY: `staging=${stagingKey}, signkey-prod-${prodKey}` };

/** Runs a server's command until `use` is done with it, then asks it to stop. */
async function during(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  use: (origin: string, written: { readonly out: string; readonly err: string }) => Promise<void>,
): Promise<{ readonly code: number; readonly out: string }> {
  const terminal = fakeTerminal({ cwd: temporaryFolder(), platform: nodePlatform, env });
  const store = args.includes("--store") ? [] : ["--store", "memory:"];
  const code = terminal.run(...args, "--port", "0", ...store);
  await expect.poll(() => /Ctrl-C stops/.test(terminal.written.out) || terminal.written.err !== "").toBe(true);
  const origin = /listens +(\S+)/.exec(terminal.written.out)?.[1] ?? "";
  try {
    await use(origin, terminal.written);
  } finally {
    terminal.interrupt();
  }
  return { code: await code, out: terminal.written.out };
}

const post = (body: unknown): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

describe("idem dev", () => {
  const quiet = ["dev", "--no-discovery", "--no-poll"];

  test("says where it listens and how to connect, serves, and stops when asked", async () => {
    const { code, out } = await during(quiet, {}, async (origin, { out }) => {
      expect(origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect(out).toContain(`INNGEST_DEV=${origin}`);
      expect(out).toContain("store    memory:");
      expect(await (await fetch(`${origin}/health`)).json()).toEqual({ status: 200, message: "OK" });
      const sent = await fetch(`${origin}/e/NO_EVENT_KEY_SET`, post([{ name: "a/b" }]));
      expect(await sent.json()).toMatchObject({ status: 200 });
    });
    expect(code).toBe(0);
    expect(out).toContain("Stopping");
  });

  test("an app that does not answer yet is waited for, with a line that says why", async () => {
    const args = [...quiet, "-u", "http://127.0.0.1:9/api/inngest", "--sdk-url", "http://127.0.0.1:9/other"];
    await during(args, {}, async (_, written) => {
      expect(written.out).toContain("waiting for http://127.0.0.1:9/api/inngest, http://127.0.0.1:9/other");
      await expect.poll(() => written.out).toMatch(/warn .*127\.0\.0\.1:9|warn .*localhost:9/);
    });
  });

  test("how long history is kept is taken from the command line, or from IDEM_RETENTION, and said", async () => {
    const env = { IDEM_RETENTION: "90d" };
    await during(quiet, env, async (_, { out }) => expect(out).toContain("keeps    history of 90 d"));
    await during([...quiet, "--retention", "7d"], env, async (_, { out }) => {
      expect(out).toContain("keeps    history of 7 d");
    });
    await during(quiet, { IDEM_RETENTION: "" }, async (_, { out }) => expect(out).not.toContain("keeps"));
  });

  test("beyond loopback it listens only where it was said that anyone may act, and says so", async () => {
    await during([...quiet, "--host", "0.0.0.0", "--anyone-may-act"], {}, async (_, { err }) => {
      expect(err).toContain("dev asks for no key");
    });
    for (const host of ["0.0.0.0", "::", "192.0.2.1", "example.com"]) {
      const terminal = fakeTerminal({ cwd: temporaryFolder(), platform: nodePlatform });
      expect(await terminal.run(...quiet, "--store", "memory:", "--host", host)).toBe(2);
      expect(terminal.written.err).toContain("--anyone-may-act");
    }
  });

  test.each([
    [["--port", "70000"], "--port"],
    [["--port", "-1"], "--port"],
    [["--retry-interval", "soon"], "--retry-interval"],
    [["--runs-in-flight", "0"], "--runs-in-flight"],
    [["--retention", "5m"], "--retention"],
    [["--retention", "for ever"], "--retention"],
    [["--retention", ""], "--retention"],
    [["-u", "localhost:3000"], "sdkUrls"],
    [["--nonsense"], "--nonsense"],
    [["--tik", "5"], "Did you mean --tick"],
    [["--in-memory"], "not both"],
    [["--log-level", "loud"], "--log-level"],
    [["--queue-workers", "0"], "--queue-workers"],
  ])("%j is refused and nothing is opened", async (args, named) => {
    const terminal = fakeTerminal({ cwd: temporaryFolder(), platform: nodePlatform });
    expect(await terminal.run("dev", "--store", "memory:", ...args)).toBe(2);
    expect(terminal.written.err).toContain(named);
  });

  test("flags of the Inngest dev server are accepted: equivalents count, each other one gets one warning", async () => {
    const ofDev = inngestFlags.filter(({ of }) => of.includes("dev"));
    const ignored = ofDev.filter((flag) => flag.ignored !== undefined);
    const args = ignored.flatMap(({ name, value }) => (value === undefined ? [`--${name}`] : [`--${name}`, "7"]));
    await during([...quiet, ...args], {}, async (_, { err }) => {
      expect(err.trimEnd().split("\n").sort()).toEqual(
        ignored.map((flag) => `warning: Idem has no setting --${flag.name}: ${flag.ignored}.`).sort(),
      );
    });
    const honored = ["--persist", "--queue-workers", "5", "-v", "-l", "warn"];
    await during([...quiet, ...honored], {}, async (_, { err }) => expect(err).toBe(""));
  });

  test("INNGEST_SDK_URL and INNGEST_PORT count if the command line does not have the flag", async () => {
    const env = { INNGEST_SDK_URL: "http://127.0.0.1:9/a,http://127.0.0.1:9/b", INNGEST_PORT: "70000" };
    // The flag --port wins over a variable that would be refused.
    await during(quiet, env, async (_, { out }) => {
      expect(out).toContain("waiting for http://127.0.0.1:9/a, http://127.0.0.1:9/b");
    });
    const terminal = fakeTerminal({ cwd: temporaryFolder(), platform: nodePlatform, env });
    expect(await terminal.run(...quiet, "--in-memory")).toBe(2);
    expect(terminal.written.err).toContain("70000");
  });

  test("a port that is taken is refused with what to do", async () => {
    const settings = { port: 0, store: "memory:", discovery: false, poll: false };
    const server = await startServer(settings);
    const terminal = fakeTerminal({ cwd: temporaryFolder(), platform: nodePlatform });
    expect(await terminal.run(...quiet, "--store", "memory:", "--port", String(server.port))).toBe(1);
    expect(terminal.written.err).toContain("--port 0 takes any free one");
    await server.close();
  });
});

describe("idem start", () => {
  test("takes several keys from its surroundings, each for its environment", async () => {
    const { code } = await during(["start"], keys, async (origin) => {
      for (const [key, status] of [
        [one, 200],
        [two, 200],
        ["three", 401],
      ] as const) {
        expect((await fetch(`${origin}/e/${key}`, post({ name: "a/b" }))).status).toBe(status);
      }
      const runs = (token: string) => fetch(`${origin}/api/runs`, { headers: { authorization: `Bearer ${token}` } });
      expect((await runs(stagingKey)).status).toBe(200);
      expect((await runs(prodKey)).status).toBe(200);
      expect((await runs(unknownKey)).status).toBe(401);
    });
    expect(code).toBe(0);
  });

  test("a node's role is taken from the command line, or from IDEM_ROLE, and said", async () => {
    const env = { ...keys, IDEM_ROLE: "worker" };
    await during(["start"], env, async (origin, { out }) => {
      expect(out).toContain("role     worker: runs are executed here");
      expect((await fetch(`${origin}/health`)).status).toBe(200);
      const refused = await fetch(`${origin}/e/${one}`, post({ name: "a/b" }));
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
      expect(await refused.json()).toMatchObject({ code: "WRONG_ROLE", ids: [] });
    });
    await during(["start", "--role", "all"], env, async (_, { out }) => expect(out).not.toContain("role"));
  });

  test("without a password the screen of the first start shows a secret, once, that people sign in with", async () => {
    const store = `sqlite:${join(temporaryFolder(), "server.db")}`;
    const secretIn = (out: string) => /People sign in with (\S+)/.exec(out)?.[1] ?? null;
    const signIn = async (origin: string, password: string | null) =>
      (await fetch(`${origin}/api/session`, post({ password }))).status;
    let first: string | null = null;
    await during(["start", "--store", store], keys, async (origin, { out }) => {
      first = secretIn(out);
      expect(first).toMatch(/^[2-9a-z-]{39}$/);
      expect(await signIn(origin, first)).toBe(200);
    });
    await during(["start", "--store", store], keys, async (origin, { out }) => {
      expect(secretIn(out)).toBeNull();
      expect(await signIn(origin, first)).toBe(200);
    });
    await during(["start", "--store", store, "--new-secret"], keys, async (origin, { out }) => {
      expect(await signIn(origin, first)).toBe(401);
      expect(await signIn(origin, secretIn(out))).toBe(200);
    });
  });

  test("passwords of operators and viewers are taken from the environment, and nothing is made or shown then", async () => {
    const env = { ...keys, IDEM_PASSWORD: "open sesame tonight", IDEM_VIEWER_PASSWORD: "look but not touch" };
    await during(["start", "--secure-cookies"], env, async (origin, { out }) => {
      expect(out).not.toMatch(/sign in|sesame|look but/);
      for (const [password, role] of [
        ["open sesame tonight", "operator"],
        ["look but not touch", "viewer"],
      ]) {
        const answer = await fetch(`${origin}/api/session`, post({ password }));
        expect(await answer.json()).toMatchObject({ role });
        expect(answer.headers.get("set-cookie")).toContain("; Secure");
      }
    });
  });

  test("keys of Inngest's names are taken where Idem's are not set, and options win over both", async () => {
    const env = { INNGEST_EVENT_KEY: "theirs", INNGEST_SIGNING_KEY: prodKey };
    await during(["start", "--event-key", one, "--event-key", two], env, async (origin) => {
      expect((await fetch(`${origin}/e/${two}`, post({ name: "a/b" }))).status).toBe(200);
      expect((await fetch(`${origin}/e/theirs`, post({ name: "a/b" }))).status).toBe(401);
    });
  });

  test.each([
    [{}, [], "idem secret make"],
    [{ IDEM_EVENT_KEY: one }, [], "a signing key"],
    [keys, ["--host", "0.0.0.0"], "IDEM_PASSWORD"],
    [keys, ["--signing-key", "xyz"], "hexadecimal"],
    [{ ...keys, IDEM_PASSWORD: "set by somebody" }, ["--new-secret"], "newSecret"],
    [{ ...keys, IDEM_PASSWORD: "same for both", IDEM_VIEWER_PASSWORD: "same for both" }, [], "viewerPassword"],
    [{ ...keys, IDEM_EVENT_KEY: "a" }, [], "idem secret make event-key"],
    [{ IDEM_EVENT_KEY: one, INNGEST_SIGNING_KEY: "ab" }, [], "idem secret make signing-key"],
    [{ ...keys, IDEM_PASSWORD: "xyz" }, ["--host", "0.0.0.0"], "idem secret make password"],
    [{ ...keys, IDEM_VIEWER_PASSWORD: "xyz" }, [], "idem secret make password"],
    [keys, ["--role", "both"], "all, api, worker"],
    [{ ...keys, IDEM_ROLE: "both" }, [], "IDEM_ROLE"],
    [keys, ["--role", "api"], "PostgreSQL"],
    [keys, ["--role", "worker", "-u", "http://localhost:3000/api/inngest"], "registers no apps"],
  ])("with %j and %j it refuses to start and says what to set", async (env, args, words) => {
    const terminal = fakeTerminal({ cwd: temporaryFolder(), platform: nodePlatform, env });
    expect(await terminal.run("start", "--store", "memory:", "--port", "0", ...args)).toBe(2);
    expect(terminal.written.err).toContain(words);
    expect(terminal.written.err).not.toContain("xyz");
  });
});
