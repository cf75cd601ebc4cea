// `verify(idem, …)`, as a test has it: under Vitest here, under node:test in a process of its own. Worlds are played in threads that run from dist.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { handlerPairs, isFound, verifyHalf } from "../../../../verify-corpus/handlers.mjs";
import { idem as billing } from "../../fixtures/harness/src/functions.mjs";
import { signatureOf } from "../../fixtures/harness/src/hub.mjs";
import { verifyItsOwn } from "../../fixtures/harness/test/makes-its-own.mjs";
import { NotHeldError } from "./held-report.ts";
import { madeIn, ownFiles } from "./made-in.ts";
import { verify } from "./verify.ts";
import { verifyEndpoint } from "./verify-endpoint.ts";
import { verifyTick } from "./verify-tick.ts";
import { verifyWebhook } from "./verify-webhook.ts";

const project = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "fixtures", "harness");
const event = { name: "crm/placement.made", data: { placementId: "7", clientId: "c3" } };

describe("verify", () => {
  test("finds the modules of a client by itself, and says in the error's message what doubled, how, where, and how to see it again", async () => {
    const report = await verify(billing, {
      function: "draft-twice",
      event,
      cwd: project,
      schedule: "die-after-effect:1",
    });
    expect(report.verdict).toBe("DOUBLED");
    const thrown = (() => {
      try {
        report.assertHeld();
      } catch (error) {
        return error;
      }
    })();
    expect(thrown).toBeInstanceOf(NotHeldError);
    const { message, report: told } = thrown as NotHeldError;
    expect(told).toBe(report);
    expect(message).toContain(report.text);
    expect(message).toMatch(/^draft-twice +event crm\/placement\.made \(from the test\)$/m);
    expect(message).toMatch(/✗ DOUBLED +two of api\.stripe\.com\/v1\/invoices/);
    expect(message).toMatch(/09:00:00\.\d{3} {2}the process died/);
    expect(message).toContain("src/functions.mjs:4");
    expect(message).toContain(
      'repeat: verify(…, { function: "draft-twice", …, schedule: "die-after-effect:1", seed: 1 })',
    );
    expect(message).not.toContain("as a test:");
  });

  test("a function that holds throws nothing; what a person accepted is no failure, and UNPROVEN is one", async () => {
    const schedule = ["die-after-effect:1", "twin-after-end"];
    const held = await verify(billing, { function: "draft-once", event, cwd: project, schedule });
    held.assertHeld();
    expect(held).toMatchObject({ verdict: "HELD", functions: [{ id: "draft-once", schedules: 2 }] });
    const accept = [{ effect: "POST api.stripe.com/*", because: "they merge by hand", until: "2999-01-01" }];
    const twice = { function: "draft-twice", event, cwd: project, schedule } as const;
    (await verify(billing, { ...twice, accept })).assertHeld();
    const unproven = await verify(billing, { function: "draft-once", cwd: project });
    expect(unproven.text).toContain("? UNPROVEN  no example event");
    expect(() => unproven.assertHeld()).toThrow(NotHeldError);
  });

  test("fixtures, entity, twin and seed are as idem.verify.ts has them, and what is wrong with one is said", async () => {
    const twice = { function: "draft-once", event, cwd: project, schedule: "die-after-effect:1" } as const;
    const body = { error: "no" };
    const refused = { method: "POST", host: "api.stripe.com", path: "/v1/invoices", status: 402, body };
    const { text } = await verify(billing, { ...twice, fixtures: [refused] });
    expect(text).toMatch(/a clean run does not complete: .*answered 402/);
    const wrong = (options: object) => verify(billing, { ...twice, ...options });
    await expect(wrong({ schedule: "die-somewhere" })).rejects.toThrow(/schedule.*none called "die-somewhere"/);
    await expect(wrong({ function: "draft-onec" })).rejects.toThrow(/did you mean "draft-once"/);
    await expect(wrong({ accept: [{ effect: "POST x" }] })).rejects.toThrow(/without a reason/);
    await expect(wrong({ shedule: "x" })).rejects.toThrow(/"schedule"/);
    await expect(wrong({ seed: 0 })).rejects.toThrow(/seed/);
    await expect(verify(billing, { event, cwd: project })).rejects.toThrow(/say of which one/);
  });

  test("a client that the test made itself is refused, and told what to do: no process that takes over could load it", async () => {
    await expect(verifyItsOwn(verify, { function: "local", event: { name: "a/b" } })).rejects.toThrow(
      /"here" cannot be verified: it was made by the test \(.*makes-its-own\.mjs\).*module.*\[VERIFY_UNABLE\]/,
    );
    await expect(verify({ id: "no", env: "client" })).rejects.toThrow(/give what new Idem made/);
    const modules = ["src/absent.mjs"];
    await expect(verifyItsOwn(verify, { modules, cwd: project })).rejects.toThrow(
      /src\/absent\.mjs.*no such file.*\[VERIFY_UNABLE\]/,
    );
  });

  test("under node:test it is the same", () => {
    const out = execFileSync(process.execPath, ["--test", join("test", "node.test.mjs")], {
      cwd: project,
      encoding: "utf8",
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    });
    expect(out).toMatch(/pass 2$/m);
    expect(out).toMatch(/fail 0$/m);
  });
});

const harness = { verifyEndpoint, verifyWebhook, verifyTick };

/** Those that show most for their time. */
const telling = {
  endpoint: ["again-elsewhere", "die-after-effect:1", "die-before-effect:1", "other-body", "twin-after-end"],
  webhook: ["again-after-days", "die-after-effect:1", "die-before-effect:1", "bad-signature", "twin-after-end"],
  tick: ["again-elsewhere", "die-after-effect:1", "next-tick", "missed-tick"],
} as const;
const besides: Readonly<Record<string, string>> = {
  "webhook-second-name": "other-name-after-end",
  "webhook-out-of-order": "out-of-order",
};
const tellingOf = (name: string): string[] => {
  const kind = name.split("-")[0] as keyof typeof telling;
  return [...telling[kind], ...(besides[name] === undefined ? [] : [besides[name]])];
};

describe("handlers", () => {
  test("there are at least four pairs of endpoints and of receivers, and three of ticks", () => {
    const counts = Object.keys(telling).map(
      (kind) => handlerPairs().filter(({ name }) => name.startsWith(`${kind}-`)).length,
    );
    expect(counts.map((count, i) => count >= [4, 4, 3][i]!)).toEqual([true, true, true]);
  });

  test.each(handlerPairs())("$name: its fault is found, and its mended twin raises no alarm", async (pair) => {
    const { name, expected } = pair;
    const schedule = tellingOf(name);
    const faulty = await verifyHalf(harness, name, "faulty", { schedule });
    expect(faulty.functions[0]!.findings).not.toEqual([]);
    expect(isFound(faulty, expected)).toBe(true);
    expect(() => faulty.assertHeld()).toThrow(expected.verdict);
    // The schedules that showed it, and other work; `npm run proof -- corpus` plays all there are.
    const shown = faulty.functions[0]!.findings.map((each) => each.schedule);
    const others = schedule.filter((each) => /^(twin|next)/.test(each));
    const mended = await verifyHalf(harness, name, "mended", { schedule: [...new Set([...shown, ...others])] });
    expect(mended.text).toMatch(/✓ HELD/);
    mended.assertHeld();
  });

  test("an Express application is called as a server calls it; rows of SQLite are watched as everything else is", async () => {
    const headers = { "Idempotency-Key": "k1" };
    const app = { module: "src/express-app.mjs", export: "app" };
    const charge = { url: "/charges", headers, body: { orderId: "7", amount: 20 } };
    const options = { cwd: project, schedule: ["again-at-once", "die-after-effect:1"] };
    expect((await verifyEndpoint(app, charge, options)).verdict).toBe("HELD");
    const unkeyed = await verifyEndpoint(app, { ...charge, url: "/unkeyed" }, options);
    expect(unkeyed.text).toMatch(/DOUBLED +two of payments\.example/);

    const order = { url: "/orders", headers, body: { itemId: "7", amount: 20 } };
    const sql = { ...options, cwd: join(project, "sql") };
    const rows = await verifyEndpoint({ module: "orders.mjs", export: "unkeyed" }, order, sql);
    expect(rows.text).toMatch(/DOUBLED +two of shop\.db\/orders/);
    expect((await verifyEndpoint({ module: "orders.mjs", export: "parked" }, order, sql)).verdict).toBe("HELD");
    const hourly = { module: "orders.mjs", export: "hourly" };
    const schedule = ["again-elsewhere", "die-after-effect:5", "next-tick"];
    expect((await verifyTick(hourly, { cron: "0 * * * *", cwd: sql.cwd, schedule })).verdict).toBe("HELD");
    expect(existsSync(join(project, "sql", "shop.db"))).toBe(false);
  });

  test("a listener of Node's is called with Node's own objects; a delivery whose signature is given as it is proves nothing about others", async () => {
    const hub = { module: "src/hub.mjs", export: "onHub", style: "node" } as const;
    const body = JSON.stringify({ push: { id: "p7" } });
    const headers = { "x-hub-delivery": "d1", "x-hub-signature-256": signatureOf(body) };
    const schedule = ["again-after-days", "die-after-effect:1", "bad-signature"];
    const held = await verifyWebhook(hub, { url: "/hub", body, headers }, { cwd: project, schedule });
    expect(held).toMatchObject({ verdict: "HELD", functions: [{ schedules: 3 }] });
    const alone = await verifyWebhook(hub, { url: "/hub", body, headers }, { cwd: project });
    expect(alone.functions[0]!.findings.map(({ thing }) => thing)).toEqual([
      expect.stringMatching(/^no other event could be made .*\(twin\).*\(sign\)/),
    ]);
    const other = JSON.stringify({ push: { id: "p8" } });
    const twin = { body: other, headers: { "x-hub-delivery": "d2", "x-hub-signature-256": signatureOf(other) } };
    const whole = await verifyWebhook(
      hub,
      { url: "/hub", body, headers },
      { cwd: project, twin, schedule: "twin-at-once" },
    );
    expect(whole).toMatchObject({ verdict: "HELD", functions: [{ schedules: 1 }] });
  });

  test("what cannot be verified says why: no key, no module, no such export, no other work, a function of the test's", async () => {
    const module = join(project, "sql", "orders.mjs");
    const order = { headers: { "Idempotency-Key": "k1" }, body: "itemId=7" };
    const options = { cwd: join(project, "sql") };
    await expect(verifyEndpoint({ module }, { body: {} }, options)).rejects.toThrow(/no Idempotency-Key/);
    await expect(verifyEndpoint({ module: "absent.mjs" }, order, options)).rejects.toThrow(
      /no such file.*VERIFY_UNABLE/,
    );
    const inMemory = (async () => new Response()) as never;
    await expect(verifyEndpoint(inMemory, order, options)).rejects.toThrow(/could not be loaded again after a death/);
    const absent = await verifyEndpoint({ module, export: "absent" }, order, options);
    expect(absent.text).toMatch(/UNPROVEN .*the module exports no "absent"/);
    await expect(verifyTick({ module }, { cron: "not a cron" })).rejects.toThrow(/CRON_INVALID/);
    const asked = await verifyTick(
      { module, export: "hourly" },
      { cron: "0 * * * *", schedule: "twin-at-once", ...options },
    );
    expect(asked.text).toMatch(/UNPROVEN +twin-at-once did not happen to this handler/);
  });
});

describe("where a client was made", () => {
  const lines = (...frames: string[]) => ["Error", ...frames.map((frame) => `    at ${frame}`)].join("\n");

  test("is the module that was being loaded, under Node, Vitest and Jest, whichever files it called", () => {
    const node = lines(
      "define (file:///app/src/define.ts:3:1)",
      "file:///app/src/functions.ts?idem-life=2:9:1",
      "ModuleJob.run (node:internal/modules/esm/module_job:343:25)",
    );
    const vitest = lines(
      "/app/src/functions.ts:9:1",
      "processTicksAndRejections (node:internal/process/task_queues:95:5)",
      "VitestModuleEvaluator.runInlinedModule (file:///app/node_modules/vitest/dist/chunks/start.js:10:5)",
    );
    const jest = lines(
      "Object.<anonymous> (/app/src/functions.ts:9:1)",
      "Runtime._execModule (/app/node_modules/jest-runtime/build/index.js:1:1)",
      "Object.require (/app/test/a.test.js:1:1)",
    );
    for (const stack of [node, vitest, jest]) {
      expect(madeIn(stack, ["/app/test/a.test.js"])).toEqual({ kind: "module", file: "/app/src/functions.ts" });
    }
    expect(ownFiles(node)).toEqual(["/app/src/define.ts", "/app/src/functions.ts"]);
  });

  test("is the test, where its code was at work; and nowhere, where nobody can be seen", () => {
    const stack = lines(
      "define (/app/src/define.ts:3:1)",
      "/app/test/a.test.ts:9:1",
      "run (/app/node_modules/x/a.js:1:1)",
    );
    expect(madeIn(stack, ["/app/test/a.test.ts"])).toEqual({ kind: "test", file: "/app/test/a.test.ts" });
    expect(madeIn(lines("processTicksAndRejections (node:internal/process/task_queues:95:5)"), [])).toEqual({
      kind: "unseen",
    });
  });
});
