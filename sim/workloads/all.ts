import { children } from "./children.ts";
import { failures } from "./failures.ts";
import { keys } from "./keys.ts";
import { steps } from "./steps.ts";
import { waits } from "./waits.ts";
import type { Workload } from "./workload.ts";

export const workloads: readonly Workload[] = [steps, failures, keys, waits, children];
