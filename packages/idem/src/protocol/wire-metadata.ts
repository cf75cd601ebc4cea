// Metadata that apps set on their runs (docs/reference/wire.md#metadata): with a step's op, or by itself.
import { errors } from "../model/errors.ts";
import { isJsonObject } from "../model/json.ts";
import type { MetadataChange } from "../model/metadata.ts";
import { hashStepId } from "../model/step-id.ts";

const changesMax = 100;
const kindShape = /^[^\p{Cc}\p{Cs}]{1,128}$/u;

/** `POST /v1/runs/:runId/metadata` `{"target":{"run_id","step_id"?,"step_index"?},"metadata":[…]}`; throws REQUEST_INVALID. */
export function readMetadataRequest(body: unknown, runId: string): readonly MetadataChange[] {
  const { target, metadata } = isJsonObject(body) ? body : {};
  if (!isJsonObject(target) || target.run_id !== runId) throw invalid("target.run_id must be the run of the path");
  const { step_id: step, step_index: index } = target;
  if (step !== undefined && step !== null && typeof step !== "string") throw invalid("target.step_id must be text");
  return readChanges(metadata, stepIdOf(step ?? "", index));
}

/** As an op carries it, each with the scope `run` or `step`. Unreadable ones are left out: a step's outcome matters more. */
export function readOpMetadata(metadata: unknown, stepId: string): readonly MetadataChange[] {
  if (!Array.isArray(metadata)) return [];
  return metadata.slice(0, changesMax).flatMap((each) => {
    try {
      return readChanges([each], isJsonObject(each) && each.scope === "run" ? "" : stepId);
    } catch {
      return [];
    }
  });
}

function readChanges(metadata: unknown, stepId: string): readonly MetadataChange[] {
  if (!Array.isArray(metadata) || metadata.length > changesMax) {
    throw invalid(`metadata must be a list of at most ${changesMax}`);
  }
  return metadata.map((each) => {
    const { kind, op, values } = isJsonObject(each) ? each : {};
    if (typeof kind !== "string" || !kindShape.test(kind)) {
      throw invalid("kind must be a text of 1 to 128 characters, none of them a control character");
    }
    if (op !== "merge" && op !== "set") throw invalid('op must be "merge" or "set"');
    if (!isJsonObject(values)) throw invalid("values must be an object");
    return { stepId, kind, op, value: JSON.stringify(values) };
  });
}

/** The SDK says a step by its hash, or by the id its author wrote with the number of its repeat. */
function stepIdOf(step: string, index: unknown): string {
  if (step === "" || /^[0-9a-f]{40}$/.test(step)) return step;
  return hashStepId(step, typeof index === "number" && Number.isInteger(index) && index > 0 ? index : 0);
}

const invalid = (why: string) => errors.REQUEST_INVALID({ why });
