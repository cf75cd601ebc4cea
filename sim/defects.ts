// The list of deliberate defects.
import { type Defect, memory, modelFolder, rules, sqlite } from "./defect.ts";
import { flowDefects } from "./flow-defects.ts";
import { postgresDefects } from "./postgres/defects.ts";

const plainDefects: readonly Defect[] = [
  {
    name: "a run moves without looking at the fence",
    patches: [
      {
        file: sqlite("rule-statements"),
        from: `id = ? and fence = ? and leased_by = ?"`,
        to: `id = ? and ? > 0 and ? <> ''"`,
      },
      {
        file: sqlite("rule-statements"),
        from: "delete from jobs where env = ? and id = ? and fence = ? and leased_by = ?",
        to: "delete from jobs where env = ? and id = ? and ? > 0 and ? <> ''",
      },
      {
        file: sqlite("record-step"),
        from: "id = ? and fence = ? and leased_by = ?",
        to: "id = ? and ? > 0 and ? <> ''",
      },
      { file: memory("advance-run"), from: "!isHeldBy(job, input)", to: "false" },
    ],
  },
  {
    name: "a rescue leaves the old holder its fence",
    patches: [
      {
        file: sqlite("rule-statements"),
        from: `id = ? and fence = ? and leased_by = ?"`,
        to: `id = ? and ? > 0 and ? <> '' and leased_by is not null"`,
      },
      {
        file: sqlite("rule-statements"),
        from: "delete from jobs where env = ? and id = ? and fence = ? and leased_by = ?",
        to: "delete from jobs where env = ? and id = ? and ? > 0 and ? <> '' and leased_by is not null",
      },
      {
        file: sqlite("record-step"),
        from: "id = ? and fence = ? and leased_by = ?",
        to: "id = ? and ? > 0 and ? <> '' and leased_by is not null",
      },
      { file: memory("advance-run"), from: "!isHeldBy(job, input)", to: "job.leasedBy === null" },
    ],
  },
  {
    name: "a step's value reaches the code before its commit",
    patches: [
      {
        file: "execute/attempt.js",
        from: '        const before = ports.point("step:before-commit");',
        to: '        commits.take(patch.steps.map((step) => ({ ...step, stamp: state.memo.lastStamp, worker: null })), state.memo.seen);\n        const before = ports.point("step:before-commit");',
      },
    ],
  },
  {
    name: "a claim is taken though somebody has it",
    patches: [
      {
        file: "model/claim.js",
        from: 'if (open && existing.state !== "released") {',
        to: 'if (open && existing.state !== "released" && existing.asked % 3 !== 2) {',
      },
    ],
  },
  {
    name: "a window ends at half its time",
    patches: [
      { file: "model/claim.js", from: "endsAt: at.now + ask.windowMs", to: "endsAt: at.now + ask.windowMs / 2" },
    ],
  },
  {
    name: "a window never ends",
    patches: [{ file: "model/window.js", from: "window.held || now < window.endsAt", to: "true" }],
  },
  {
    name: "a failed run does not give its key back",
    patches: [
      { file: rules("end-run"), from: 'releaseKey ? "released" : "settled"', to: '"settled"' },
      {
        file: memory("end-run"),
        from: 'release || claim.state === "released" ? "released"',
        to: 'release || claim.state === "released" ? "settled"',
      },
    ],
  },
  {
    name: "a new window keeps the old generation",
    patches: [
      {
        file: "model/claim.js",
        from: "generation: open ? existing.generation : ask.generation",
        to: "generation: existing !== null ? existing.generation : ask.generation",
      },
    ],
  },
  {
    name: "a released key opens a new generation",
    patches: [
      {
        file: "model/claim.js",
        from: "generation: open ? existing.generation : ask.generation",
        to: "generation: ask.generation",
      },
    ],
  },
  {
    name: "a repeated call counts as another asking",
    patches: [
      {
        file: rules("ingest-events"),
        from: "    yield* answerLeasedAgain(tx, env, eventId, pairs, deliverTo, out);",
        to: "    yield* answerLeasedAgain(tx, env, eventId, pairs, deliverTo, out);\n    if (stored.caller_id !== null) tx.write(\"update claims set asked = asked + 1 where env = ? and scope = 'event' and key = ?\", env, stored.caller_id);",
      },
    ],
  },
  {
    name: "a duplicate event wakes those who wait",
    patches: [
      {
        file: rules("ingest-events"),
        from: "    tx.add(linksToFirst, firstId, env, event.id);",
        to: "    tx.add(linksToFirst, firstId, env, event.id);\n    if (yield* tx.isAwaited(env, event)) deliver(tx, env, event, null, out);",
      },
    ],
  },
  {
    name: "an event wakes those who began to wait after it",
    patches: [{ file: sqlite("reads"), from: "and w.stamp < ?", to: "and (w.stamp < ? or true)" }],
  },
  {
    name: "living workers are rescued from",
    patches: [
      {
        file: sqlite("workers"),
        from: "where dead_at is null and until < ?",
        to: "where dead_at is null and until - 17000 < ?",
      },
      { file: memory("sweep"), from: "worker.until < at.leaseNow", to: "worker.until - 17_000 < at.leaseNow" },
    ],
  },
  {
    name: "a wait is over before its time",
    patches: [
      { file: rules("end-wait"), from: "wait.timeout_at > now", to: "wait.timeout_at > now + 400" },
      { file: memory("end-wait"), from: "timeoutAt <= at.now", to: "timeoutAt <= at.now + 400" },
    ],
  },
  {
    name: "a cancelled run keeps its job",
    patches: [
      {
        file: rules("cancel-holder"),
        from: "const job = yield* tx.one(deleteJobSql, env, runId);",
        to: 'const job = yield* tx.one("select lane, leased_by from jobs where env = ? and id = ?", env, runId);',
      },
    ],
  },
  {
    name: "a run can end twice",
    patches: [
      {
        file: rules("cancel-run"),
        from: '    if (run.ended_state !== null)\n        return { kind: "already-ended", state: run.ended_state };\n',
        to: "",
      },
      {
        file: rules("cancel-run"),
        from: '    if (now.ended_state !== null)\n        return { kind: "already-ended", state: now.ended_state };\n',
        to: "",
      },
      { file: sqlite("rule-statements"), from: " and ended_state is null", to: "" },
    ],
  },
  {
    name: "events of a step are stored though its commit is refused",
    patches: [
      {
        file: rules("advance-run"),
        from: "function* refuse(tx, { env, runId, fence, steps, seen, next }) {\n",
        to: "function* refuse(tx, { env, runId, fence, steps, seen, next, ingest }) {\n    if (ingest !== null) yield* tx.ingestNested(env, ingest);\n",
      },
      {
        file: memory("advance-run"),
        from: '        return { kind: "fenced" };\n    const stale',
        to: '        return input.ingest !== null && storeEvents(tables, at, input.ingest, null), { kind: "fenced" };\n    const stale',
      },
    ],
  },
  {
    name: "windows believe a clock that is suddenly ahead",
    patches: [{ file: "store/clock.js", from: "takenAt < at ? time - ms : time", to: "time" }],
  },
  {
    name: "a send is acknowledged before it is stored",
    patches: [
      {
        file: sqlite("inline-store"),
        from: "            core.tend();\n            return readAnswer(answer);",
        to: '            if (name === "ingest" && answer.value.kind === "ingested" && ++calls % 7 === 0) for (const { id } of input[0].events) core.connection.run("delete from events where id = ?", id);\n            return readAnswer(answer);',
      },
      {
        file: sqlite("inline-store"),
        from: "    for (const name of operationNames) {\n",
        to: "    for (const name of operationNames) {\n        let calls = 0;\n",
      },
    ],
  },
  {
    name: "a batch is stored event by event",
    patches: [
      {
        file: rules("ingest-events"),
        from: "        const event = events[i];\n",
        to: "        const event = events[i];\n        if (i > 0 && tx.at.now % 11 === 0)\n            continue;\n",
      },
    ],
  },
  {
    name: "a store says that nothing was stored, and has stored it",
    patches: [
      {
        file: `${modelFolder}/faulty-store.js`,
        from: "const refuse = () => reply(",
        to: "const refuse = () => (void apply(), reply)(",
      },
    ],
  },
  {
    name: "a fact is given up while the store is locked or full",
    patches: [
      {
        file: "engine/persist.js",
        from: 'error.retry === "later"',
        to: 'error.retry === "later" && error.code !== "STORE_LOCKED" && error.code !== "STORE_FULL"',
      },
    ],
  },
  {
    name: "a retry does not wait for its time",
    patches: [{ file: "execute/retry.js", from: "atMs: now + delayAfter(", to: "atMs: now - 100 + 0 * delayAfter(" }],
  },
];

const entryDefects: readonly Defect[] = [
  {
    name: "a run whose step ends its process is entered for ever",
    patches: [
      {
        file: "model/entries.js",
        from: "if (lostWorkers >= entries.max)",
        to: "if (lostWorkers >= entries.max * 1000)",
      },
    ],
  },
  {
    name: "a run is left to a person one entry too late",
    patches: [
      { file: "model/entries.js", from: "if (lostWorkers >= entries.max)", to: "if (lostWorkers > entries.max)" },
    ],
  },
];

export const defects: readonly Defect[] = [...plainDefects, ...flowDefects, ...postgresDefects, ...entryDefects];
