import { buffers } from "./buffers.ts";
import { children } from "./children.ts";
import { crons } from "./crons.ts";
import { deadly } from "./deadly.ts";
import { failures } from "./failures.ts";
import { keys } from "./keys.ts";
import { limits } from "./limits.ts";
import { singles } from "./singles.ts";
import { steps } from "./steps.ts";
import { waits } from "./waits.ts";
import { wide } from "./wide.ts";
import type { Workload } from "./workload.ts";

/** Runs that begin as soon as their event arrives. */
export const plainWorkloads: readonly Workload[] = [steps, failures, keys, waits, children];

/** Runs that something else has to let begin. */
export const flowWorkloads: readonly Workload[] = [limits, buffers, singles];

/** Steps side by side in limits that count them. */
export const wideWorkload: Workload = wide;

/** Minutes long, so fewer worlds have them. */
export const cronWorkload: Workload = crons;

/** Lives end by it again and again, so fewer worlds have it. */
export const deadlyWorkload: Workload = deadly;
