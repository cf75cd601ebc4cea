// Whether a run is in the hands of another node. What only its holder can answer is then refused in a way that is tried again: a
// refusal for good would make an app throw away work that is done.
import type { Run } from "../model/run.ts";
import type { Store } from "../store/store.ts";
import type { Worker } from "./worker.ts";

export const isHeldElsewhere = (
  { store, worker }: { readonly store: Pick<Store, "shared">; readonly worker: Pick<Worker, "activePass"> },
  { id, state }: Pick<Run, "id" | "state">,
): boolean => store.shared !== null && state === "running" && worker.activePass(id) === null;
