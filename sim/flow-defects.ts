// Deliberate defects of limits, buffers, singletons, cancelling events, schedules and the clock they go by.
import { type Defect, memory, rules, sqlite } from "./defect.ts";

export const flowDefects: readonly Defect[] = [
  {
    name: "a limit lets in one too many",
    patches: [
      {
        file: sqlite("lane-book"),
        from: "(picture.used.get(slots[i]) ?? 0) >= capOf(caps, i)",
        to: "(picture.used.get(slots[i]) ?? 0) > capOf(caps, i)",
      },
      {
        file: memory("lanes"),
        from: "(use.get(slot) ?? 0) < capOf(caps, position)",
        to: "(use.get(slot) ?? 0) <= capOf(caps, position)",
      },
    ],
  },
  {
    name: "a run that sleeps keeps its slot",
    patches: [
      {
        file: rules("advance-run"),
        from: "freed = gaveBack(tx, (yield* giveBack(tx, input, next, nextTimeoutAt)));",
        to: 'const held = yield* giveBack(tx, input, next, nextTimeoutAt);\n    freed = next.kind === "park" && gaveBack(tx, held);',
      },
    ],
  },
  {
    name: "a slot given back counts twice where the book was lost",
    patches: [
      // Rescues and rolled back transactions do that too, only more seldom.
      {
        file: sqlite("workers"),
        from: "export function heartbeatWorker(tx, worker, termMs, about) {\n",
        to: "export function heartbeatWorker(tx, worker, termMs, about) {\n    tx.lanes.forget();\n",
      },
      {
        file: sqlite("lane-book"),
        from: "        const { picture } = this;\n        if (picture === null)\n            return true;\n",
        to: "        const picture = this.look();\n",
      },
    ],
  },
  {
    name: "a limit gives a step one slot too many",
    patches: [
      {
        file: "flow/concurrency/beside.js",
        from: "cap - used(slot) + held[position] - kept)",
        to: "cap - used(slot) + held[position] - kept + 1)",
      },
    ],
  },
  {
    name: "a step beside others begins before it has its slot",
    patches: [
      {
        file: "execute/step-slots.js",
        from: "this.inside < 1 + this.usable",
        to: "this.inside < 2 + this.usable",
      },
    ],
  },
  {
    name: "what a run holds beside its slot is not counted",
    patches: [
      { file: sqlite("lane-book"), from: "            if (more > 0)\n", to: "            if (more > 9)\n" },
      { file: memory("lanes"), from: "+ 1 + (beside[position] ?? 0)", to: "+ 1" },
    ],
  },
  {
    name: "a timer is leased past its lane",
    patches: [
      {
        file: sqlite("lease-jobs"),
        from: "const plain = rows.filter(({ lane }) => lane === null);",
        to: "const plain = rows;",
      },
      { file: sqlite("lease-jobs"), from: "            if (row.lane === null)\n", to: "            if (true)\n" },
    ],
  },
  {
    name: "a throttle forgets the start before",
    patches: [{ file: "flow/throttle/plan.js", from: "tat: due + spacing", to: "tat: now" }],
  },
  {
    name: "a rate limit counts what the key refuses",
    patches: [
      {
        file: rules("start-run"),
        from: "    tx.countAsking(env, found);\n",
        to: "    tx.countAsking(env, found);\n    if (start.pair.flow !== null)\n        yield* refuseStart(tx, env, start.pair, out);\n",
      },
    ],
  },
  {
    name: "a flush takes no key",
    patches: [
      {
        file: rules("flush-buffer"),
        from: 'tx.writeClaim(env, { ...claim, state: "in-flight" }, found);',
        to: 'tx.writeClaim(env, { ...claim, endsAt: tx.at.now, state: "in-flight" }, found);',
      },
    ],
  },
  {
    name: "a batch carries a key twice",
    patches: [{ file: rules("flush-buffer"), from: "inBatchAlready.has(key)", to: "false" }],
  },
  {
    name: "a flush leaves its buffer behind",
    patches: [
      {
        file: rules("flush-buffer"),
        from: "    tx.write(deleteBufferSql, env, buffer.fn, buffer.kind, buffer.key);\n    tx.write(deleteItemsSql, env, buffer.id);\n",
        to: '    tx.write("update buffers set due_at = due_at + 3000 where env = ? and fn = ? and kind = ? and key = ?", env, buffer.fn, buffer.kind, buffer.key);\n',
      },
    ],
  },
  {
    name: "a superseded event starts a run of its own",
    patches: [
      {
        file: rules("flush-buffer"),
        from: "        .map(({ event_id }) => {\n",
        to: "        .map(({ event_id }, i) => {\n        return tx.startRun(env, { event: readEvent(findEvent(tx, env, event_id).value), pair: { ...pair, runId: pair.runId.slice(0, 24) + (10 + (i % 90)) }, generation: pair.generation, windowEndsAt: null }, out).value;\n",
      },
    ],
  },
  {
    name: "a debounce starts its first event",
    patches: [
      { file: rules("fill-buffer"), from: "before.ts === null || event.ts >= before.ts", to: "before.ts === null" },
      {
        file: memory("buffers"),
        from: "eventOf(tables, item.eventId).ts >= eventOf(tables, best.eventId).ts",
        to: "false",
      },
    ],
  },
  {
    name: "a buffer of a paused function starts its run",
    patches: [
      {
        file: rules("flush-buffer"),
        from: "(yield* tx.one(pausedSql, env, buffer.fn)) !== undefined",
        to: "(yield* tx.one(pausedSql, env, buffer.fn)) === null",
      },
      { file: memory("buffers"), from: "(tables.functions.get(fn)?.pausedAt ?? null) !== null", to: "false" },
    ],
  },
  {
    name: "a singleton is not let go at the end",
    patches: [
      { file: rules("end-run"), from: "if (run.singleton !== null)", to: "if (run.singleton === '')" },
      {
        file: memory("singleton"),
        from: "?.endState === null ? claim.holder : null",
        to: "=== undefined ? null : claim.holder",
      },
      { file: memory("end-run"), from: "    letGoOfSingleton(tables, ended);\n", to: "" },
    ],
  },
  {
    name: "a singleton does not cancel the run before",
    patches: [
      {
        file: rules("refuse-start"),
        from: "        yield* cancelHolder(tx, env, asked.claim.holder, rule, out);\n",
        to: '        tx.connection.run("update claims set held = 0 where n = ?", found.row);\n',
      },
      { file: memory("singleton"), from: 'holder !== null && rule.mode === "cancel"', to: "holder === ''" },
    ],
  },
  {
    name: "an event cancels nobody",
    patches: [{ file: "engine/deliver-event.js", from: "i < cancelled.length", to: "i < 0" }],
  },
  {
    name: "an event cancels whom it came too late for",
    patches: [{ file: sqlite("rule-statements"), from: "c.ends_at > ?", to: "c.ends_at + 60000 > ?" }],
  },
  {
    name: "an invoking step does not wait for a buffer",
    patches: [
      {
        file: rules("begin-wait"),
        from: "decision !== undefined && isPending(decision)",
        to: "decision !== undefined && isPending(decision) && runId === ''",
      },
    ],
  },
  {
    name: "a tick is decided by everyone who asks",
    patches: [
      { file: rules("tick-crons"), from: "and last_tick_at < ?", to: "and ? > 0" },
      { file: memory("tick-crons"), from: "row.lastTickAt >= tickAt", to: "row.lastTickAt < 0" },
      {
        file: "engine/tick-event.js",
        from: "derivedUlid(ms, JSON.stringify([env, fn, tickAt]))",
        to: "derivedUlid(ms, JSON.stringify([env, fn, tickAt, ++asked]))",
      },
      { file: "engine/tick-event.js", from: "const ulidTimeMax", to: "let asked = 0;\nconst ulidTimeMax" },
    ],
  },
  {
    name: "schedules that meet are two ticks",
    patches: [
      {
        file: "engine/tick-event.js",
        from: "derivedUlid(ms, JSON.stringify([env, fn, tickAt]))",
        to: "derivedUlid(ms, JSON.stringify([env, fn, tickAt, cron]))",
      },
    ],
  },
  {
    name: "a missed tick is forgotten",
    patches: [
      {
        file: "schedule/cron-ticks.js",
        from: "ticks: [...missed, ...started]",
        to: 'ticks: [...missed.filter(({ decision }) => decision === "start"), ...started]',
      },
    ],
  },
  {
    name: "a tick is as early as the clock of whoever asks",
    patches: [
      { file: rules("tick-crons"), from: "tickAt > tx.at.now", to: "tickAt > tx.at.now + 60000" },
      { file: memory("tick-crons"), from: "tickAt > at.now", to: "tickAt > at.now + 60000" },
    ],
  },
  {
    name: "the store's clock stands still while its wall is behind",
    patches: [{ file: "store/clock.js", from: "const crawlSpeed = 0.5", to: "const crawlSpeed = 0" }],
  },
];
