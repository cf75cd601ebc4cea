// The lines of tests that may read a clock, wait in real time or draw by chance, each with its reason. The list only shrinks: a line that is
// not found any more fails repository-checks.test.ts.

interface Allowance {
  readonly why: string;
  /** Part of each line's text, by file. */
  readonly lines: Readonly<Record<string, readonly string[]>>;
}

export const allowedNondeterminism: readonly Allowance[] = [
  {
    why: "A real server or SDK compares the time in a signature or an id with the machine's clock, minutes or a day apart.",
    lines: {
      "acceptance/doors/nestjs.integration.test.ts": ["signRequest(body, key, Date.now())"],
      "acceptance/events.integration.test.ts": ['"x-inngest-event-id-seed"'],
      "acceptance/faults.integration.test.ts": ["keys.signing, Date.now())"],
      "acceptance/keys.integration.test.ts": [
        "signed(real, otherKey, Date.now())",
        "Date.now() - fiveMinutes - 5_000",
        "Date.now() + fiveMinutes + 5_000",
        "signatureOf(call.body, otherKey, Date.now())",
      ],
      "examples/shop/act-3-redelivered.mjs": ["Math.floor(Date.now() / 1_000)"],
      "packages/dashboard/tests/scenario.ts": ['id: "", type: null, at: Date.now() }', "Date.now() - 2 * 3_600_000"],
      "packages/idem/src/serve/adapters.test.ts": [
        "signRequest(text, key, Date.now())",
        "[key], Date.now()).kind",
        "signRequest(canonicalJson({ url }), key, Date.now())",
      ],
      "packages/idem/src/server/endpoints/reports.test.ts": ["derivedUlid(nodePlatform.wallMs()"],
      "packages/idem/src/server/nodes.test.ts": ["derivedUlid(nodePlatform.wallMs()"],
      "packages/idem/src/server/routes/api/webhooks.test.ts": ["at: Date.now() }"],
      "packages/idem/src/server/sync-app.test.ts": ["stepWall(Date.now() - made.platform.wallMs())"],
      "packages/idem/src/server/traced.test.ts": ["at: Date.now() }"],
      "packages/idem/src/toolkit/http/doors/lambda-event.test.ts": ["signRequest(body, key, Date.now())"],
      "siege/castle.ts": ["const t = Math.floor(Date.now() / 1_000);"],
      "siege/kinds.ts": ["Math.floor(Date.now() / 1_000)"],
    },
  },
  {
    why: "Another process or a store has the machine's clock. Its time is read to be compared with it, and every amount of time passes.",
    lines: {
      "acceptance/cron.integration.test.ts": ["minuteMs - (Date.now() % minuteMs)"],
      "acceptance/trace.ts": ["times.set(step, Date.now())"],
      "acceptance/world.ts": ["return Date.now() + this.clockAheadMs;"],
      "packages/idem/src/cli/elsewhere.integration.test.ts": ["const now = Date.now();"],
      "packages/idem/src/cli/prune.test.ts": ["nodePlatform.wallMs() + 60_000"],
      "packages/idem/src/store/postgres/races/world.suite.ts": ["nodePlatform.monoMs()"],
      "packages/idem/src/store/released-stores.suite.ts": ["nodePlatform.monoMs()"],
    },
  },
  {
    why: "Code of an article as it was printed. The shop of these tests replaces the clock (examples/seeds/fakes/shop.ts).",
    lines: {
      "examples/seeds/cancellation-challenge.test.ts": ["new Date()"],
      "examples/seeds/emails.test.ts": ["Date.now() - 24 * 60", "new Date()"],
      "examples/seeds/event-id.test.ts": ["Date.now()"],
      "examples/seeds/four-layers.test.ts": ["new Date()"],
      "examples/seeds/quiz.test.ts": ["new Date()"],
      "examples/seeds/subscription-upgrade.test.ts": ["new Date()"],
    },
  },
  {
    why: "A timer or a slow statement is what the test is about. A slow machine makes it longer, and the test still passes.",
    lines: {
      "packages/idem/src/execute/call-remote.test.ts": ["setTimeout(resolve, 30)"],
      "packages/idem/src/execute/nested-steps.test.ts": ['setTimeout(() => resolve(step.run("inner", charge)'],
      "packages/idem/src/store/postgres/managed.test.ts": ["pg_sleep(0.2)"],
    },
  },
  {
    why: "A statement that would last until its session is ended in the middle of it. Nothing waits for its time.",
    lines: {
      "packages/idem/src/execute/transaction.test.ts": ["pg_sleep(60)"],
      "packages/idem/src/store/postgres/migrate.test.ts": ["pg_sleep(60)"],
    },
  },
  {
    why: "The thread that opens a locked file waits inside SQLite and reports nothing. A lock that ends too early proves less and fails nothing.",
    lines: {
      "packages/idem/src/store/sqlite/store-trouble.test.ts": ['setTimeout(() => other.exec("rollback"), 300)'],
    },
  },
  {
    why: "A bound against hanging. Only a failure reaches it.",
    lines: {
      "examples/shop/until.mjs": ["node:timers/promises", "Date.now() + patienceMs", "Date.now() > giveUpAt"],
      "packages/idem/src/server/fuzz/line.suite.ts": ["const patience = setTimeout("],
      "siege/castle.ts": ["setTimeout(resolve, collectMsMax)", "Date.now() - since < startMsMax"],
      "siege/honest.ts": ["setTimeout(() => resolve(false), runMsMax)"],
      "siege/line.ts": ["const patience = setTimeout("],
      "siege/run-siege.ts": ["Date.now() - since < 120_000"],
      "sim/run-worlds.ts": ["watch = setTimeout("],
      "torture/toolkit/ground.ts": ["performance.now()", "pg_sleep(0.005)"],
    },
  },
  {
    why: "docs/guarantees.md promises that all runs end within 30 s of the last start. They take about one.",
    lines: {
      "examples/kill-test/kill.integration.test.ts": ['setTimeout(() => last.end("SIGKILL"), finishWithinMs)'],
    },
  },
  {
    why: "A client that holds its connection open for a while is the attack.",
    lines: {
      "packages/idem/src/server/fuzz/line.suite.ts": ["socket.end(), holdMs)", "socket.destroy(), holdMs + 1_000)"],
    },
  },
  {
    why: "The abuse tests attack in slices of real time. The tests of the second tier judge facts; only `npm run proof -- abuse` judges speed.",
    lines: {
      "siege/honest.ts": ["setInterval(() => this.begin()", "performance.now()"],
      "siege/line.ts": ["export const pause"],
      "siege/run-siege.ts": ["const meter = setInterval("],
    },
  },
  {
    why: "The crash tests kill, freeze and cut off real processes. A seed plans the faults; processes and their evidence have the machine's clock.",
    lines: {
      "torture/driver.ts": ["node:timers/promises", "Date.now()"],
      "torture/faults.ts": ["node:timers/promises", "Date.now()", "performance.now()"],
      "torture/freeze-standby.ts": ["node:timers/promises", "performance.now()"],
      "torture/functions.ts": ["Date.now()"],
      "torture/live.ts": ["node:timers/promises", 'setTimeout(() => victim.child.kill("SIGKILL")', "performance.now()"],
      "torture/postgres-round.ts": ["node:timers/promises", "performance.now()"],
      "torture/proxy.ts": ["setTimeout(resolve, ms)"],
      "torture/report.ts": ["Date.now()"],
      "torture/round.ts": ["performance.now()"],
    },
  },
  {
    why: "Tells executions of a step apart, in processes that know nothing of each other. Nothing is decided by it.",
    lines: { "torture/functions.ts": ["import { randomBytes }"] },
  },
  {
    why: "Steps of a run that is drawn take some milliseconds, so that their bars have a width. Any amount of time passes.",
    lines: {
      "packages/dashboard/tests/run.integration.test.ts": ["new Promise((resolve) => setTimeout(resolve, ms))"],
    },
  },
];
