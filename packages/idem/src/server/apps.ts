// The apps this server serves: what they registered, where they live, how their last sync went.
import type { FunctionConfig } from "../model/function-config.ts";

/** An app's description of itself, read from the wire. */
export interface AppRegistration {
  /** The one that rows name: the first it ever had. */
  readonly app: string;
  /** Every name it had before, where it was renamed. */
  readonly formerApps?: readonly string[];
  /** Its serve URL without deployId, fnId and stepId; null for workers that connect. */
  readonly url: string | null;
  readonly functions: readonly { readonly fn: string; readonly config: FunctionConfig }[];
  readonly sdk: string | null;
  readonly framework: string | null;
  readonly appVersion: string | null;
}

export interface ServedApp {
  readonly app: string;
  readonly url: string | null;
  readonly kind: "http" | "connect" | "endpoint";
  readonly sdk: string | null;
  readonly framework: string | null;
  readonly appVersion: string | null;
  readonly functionCount: number;
  readonly syncedAt: number | null;
  /** Why the last sync or call did not work; null when it did. */
  readonly error: string | null;
  /** Workers connected right now; null for apps reached by URL. */
  readonly workers: number | null;
}

export interface Apps {
  /** All or nothing; throws FUNCTION_INVALID with the function and the reason. */
  register(env: string, registration: AppRegistration): Promise<{ readonly modified: boolean }>;
  list(env: string): Promise<readonly ServedApp[]>;
  /** A sync of this URL did not work: remembered and shown. Returns whether the reason is a new one. */
  noteFailure(env: string, url: string, error: string): boolean;
  /** A worker of this app was refused: remembered and shown. */
  noteWorkerFailure(env: string, app: string, error: string): void;
}
