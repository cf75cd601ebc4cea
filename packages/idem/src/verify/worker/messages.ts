// Messages between the command and its thread. Plain data.
import type { FunctionConfig } from "../../model/function-config.ts";
import type { CallPlan, CallRecord, CallScript } from "../calls/call-script.ts";
import type { Replay, ReplayedRun } from "../deploy/replay.ts";
import type { Json, Place, WorldRecord } from "../thing.ts";
import type { DatabaseScript } from "./sql/database-script.ts";
import type { WorldScript } from "./world-script.ts";

export interface ThreadInput {
  /** A language of the program's modules beside what Node loads by itself. */
  readonly loader: "typescript" | null;
}

export interface DescribedFunction {
  /** The one that rows name: the first it ever had. */
  readonly app: string;
  readonly env: string;
  readonly fn: string;
  readonly config: FunctionConfig;
  /** The fingerprint of its code, as a process that has it registers it; null where there is none. */
  readonly code: string | null;
  /** It handles the end of another one's runs. */
  readonly handlesEnd: boolean;
  /** Where it is defined; null where no line of the user's is seen. */
  readonly place: Place | null;
  /** Files whose code was at work when it and its client were made; null where that is unknown. */
  readonly madeBy: readonly string[] | null;
}

export type ToThread =
  | {
      readonly kind: "describe";
      readonly modules: readonly string[];
      /** Things the modules set up in these while they are loaded stay. */
      readonly databases?: readonly DatabaseScript[];
    }
  | {
      readonly kind: "play";
      readonly script: WorldScript;
      readonly schedule: string;
      readonly seed: number;
      /** The output of the user's code is shown. */
      readonly isShown: boolean;
    }
  /** Calls of a handler. */
  | { readonly kind: "call"; readonly script: CallScript; readonly plan: CallPlan; readonly seed: number }
  /** Open runs, one after the other, over these modules; each is announced before it is entered. */
  | {
      readonly kind: "replay";
      readonly modules: readonly string[];
      readonly now: number;
      readonly runs: readonly ReplayedRun[];
    };

/** Said once: Node and this package are loaded, and everything is replaced. From here on it is the user's modules that are waited for. */
export interface Opened {
  readonly kind: "opened";
}

/** Before a world's answer, and before each run that is replayed: the program is loaded, and what comes now is its own time. */
export interface Loaded {
  readonly kind: "loaded";
}

export type FromThread =
  | {
      readonly kind: "described";
      readonly functions: readonly DescribedFunction[];
      /** The clients that were constructed. */
      readonly clients: readonly { readonly app: string; readonly env: string; readonly functions: number }[];
      /** The data of the program's configuration; null without one. */
      readonly configuration: Json;
    }
  | { readonly kind: "played"; readonly record: WorldRecord; readonly heapBytes: number }
  | { readonly kind: "called"; readonly record: CallRecord; readonly heapBytes: number }
  | { readonly kind: "replayed"; readonly replays: readonly Replay[]; readonly heapBytes: number }
  /** The modules could not be loaded, or the thread has a defect. */
  | { readonly kind: "failed"; readonly why: string; readonly stack: string };
