// A function's findings as a person can act on them: each made small, with the change that mends it.
import type { FunctionConfig } from "../../model/function-config.ts";
import type { Platform } from "../../platform/platform.ts";
import type { Findings } from "../findings.ts";
import type { DeliveredEvent } from "../worker/world-script.ts";
import { type ImproveOptions, improve } from "./improve.ts";
import { suggestKey } from "./suggest-key.ts";

export interface ImproveFindings
  extends Pick<ImproveOptions, "modules" | "readSource" | "playAgain" | "playWith" | "playChanged"> {
  readonly platform: Pick<Platform, "monoMs">;
  readonly config: FunctionConfig;
  readonly event: DeliveredEvent;
  readonly twin: DeliveredEvent | null;
  /** The user gave the twin's data, and knows which data goes together: the event is left as it is. */
  readonly isTwinGiven: boolean;
  /** The field that says which entity the event is about. */
  readonly entity: string | null;
}

/** Findings of a function that are made small and mended: the others are found again once these are gone. */
const improvedMax = 5;
/** Real time that making one event smaller may take. */
const shrinkMsMax = 1_500;

export async function improveFindings(findings: Findings, options: ImproveFindings): Promise<void> {
  const { platform, config, event, twin, isTwinGiven, entity, ...ways } = options;
  const all = [...findings.all];
  const wrong = all.filter(({ verdict }) => verdict !== "UNPROVEN" && verdict !== "ACCEPTED");
  if (wrong.length === 0) return;
  const entityExpression = entity === null ? null : `event.data.${entity}`;
  const suggested = twin === null ? null : await suggestKey(config.id, event.name, event.data, twin.data);
  const key = {
    keyExpression: config.idempotency?.key ?? null,
    isUnkeyed: config.unkeyed !== undefined,
    suggestedKey: suggested ?? entityExpression,
    entityExpression,
  };
  for (const finding of wrong.slice(0, improvedMax)) {
    const until = platform.monoMs() + shrinkMsMax;
    const better = await improve(finding, {
      ...ways,
      fnId: config.id,
      effect: findings.effectOf(finding),
      findings: all,
      key,
      isLate: () => isTwinGiven || platform.monoMs() > until,
    });
    findings.replace(finding, better);
  }
}
