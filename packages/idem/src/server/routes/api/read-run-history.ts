// GET /api/runs/:run/history: everything that is known of a run in one file, each payload byte for byte as it is stored.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import { timelineOf } from "../../../observe/timeline.ts";
import type { RunMemo } from "../../../store/leases.ts";
import type { StepGiven } from "../../../store/steps.ts";
import { apiRoute, RawAnswer } from "../../api/api-route.ts";
import { decisionItem, decisionItemOf } from "../../api/decision-shape.ts";
import { wholeEventItemOf } from "../../api/event-shape.ts";
import { namesOfToday } from "../../api/function-names.ts";
import { runItem, wholeRunItemOf } from "../../api/run-shape.ts";

// As much as a run may keep in all: none is left out.
const inputBytesMax = 64 * 1024 * 1024;
const sparedMax = 1_000;

export const readRunHistory = apiRoute({
  method: "GET",
  path: "/api/runs/:run/history",
  summary:
    "Download everything that is known of a run: its events, steps, attempts, waits and payloads, as they are stored",
  tag: "runs",
  answer: z.unknown(),
  handle: async ({ params, engine, env }) => {
    const { reads } = engine.store;
    const memo = await reads.runMemo(env, params.run!);
    if (memo === null) throw errors.RUN_UNKNOWN({ runId: params.run! });
    const given = await reads.stepInputs(env, memo.run.id, inputBytesMax);
    const spared = await reads.duplicatesOfRun(env, memo.run.id, sparedMax);
    const { registry } = engine;
    const headers = {
      "content-type": "application/json",
      "content-disposition": `attachment; filename="run-${memo.run.id}.json"`,
    };
    const body = objectOf([
      ["run", withTexts(namesOfToday(wholeRunItemOf(memo.run), runItem, registry), { result: memo.run.result })],
      [
        "events",
        listOf(memo.events.map((each) => withTexts(wholeEventItemOf(each), { data: each.data, extra: each.extra }))),
      ],
      ["steps", listOf(stepsOf(memo, given, env))],
      ["spared", JSON.stringify(namesOfToday(spared.map(decisionItemOf), z.array(decisionItem), registry))],
    ]);
    return new RawAnswer({ status: 200, headers, body });
  },
});

const objectOf = (parts: readonly (readonly [string, string])[]): string =>
  `{\n${parts.map(([name, text]) => `${JSON.stringify(name)}: ${text}`).join(",\n")}\n}\n`;

const listOf = (texts: readonly string[]): string => (texts.length === 0 ? "[]" : `[\n${texts.join(",\n")}\n]`);

/** An object, with stored JSON in it that nobody reads and writes again. */
function withTexts(object: object, texts: Readonly<Record<string, string | null>>): string {
  const own = JSON.stringify(object);
  const added = Object.entries(texts).map(([name, text]) => `${JSON.stringify(name)}:${text ?? "null"}`);
  return `${own.slice(0, -1)}${own === "{}" ? "" : ","}${added.join(",")}}`;
}

function stepsOf(memo: RunMemo, given: readonly StepGiven[], env: string): string[] {
  const givenTo = new Map(given.map((each) => [each.stepId, each]));
  const outcomes = new Map(memo.steps.map(({ stepId, outcome }) => [stepId, outcome]));
  const bare = memo.steps.map((step) =>
    step.outcome.kind === "value" ? { ...step, outcome: { kind: "value" as const, json: "null" } } : step,
  );
  return timelineOf({ ...memo, steps: bare }, env).map(({ output: _, ...entry }) => {
    const outcome = outcomes.get(entry.stepId);
    const { input = null, childRunId = null } = givenTo.get(entry.stepId) ?? {};
    return withTexts(
      { ...entry, childRunId },
      {
        input: input ?? memo.inputs[entry.stepId] ?? null,
        output: outcome?.kind === "value" ? outcome.json : null,
      },
    );
  });
}
