// Messages between an app's processes and the command, a line of JSON each. The command listens on loopback; each connection shows the token of the process it
// was started in.
import type { ModelAnswer } from "../destination-model.ts";
import type { AbsentField, Json, Place } from "../thing.ts";
import type { DatabaseScript } from "../worker/sql/database-script.ts";
import type { Applied, AskedEffect, Carried, Effected } from "../worker/watcher.ts";

/** The variable of a started process's environment that holds its settings. */
export const settingsName = "IDEM_VERIFY_APP";

export interface AppSettings {
  /** The port the command listens at. */
  readonly controlPort: number;
  /** Of this start: another one has another. */
  readonly token: string;
  /** The app's port, as its author says; it is given a free one in its place. */
  readonly appPort: number;
  /** The app's server: the command. */
  readonly serverOrigin: string;
  /** The world it is started for; null where that is said when it begins. */
  readonly world: WorldOfProcess | null;
}

/** A process's share of its world: what it has to know, and what earlier processes left there. */
export interface WorldOfProcess {
  /** Outlives the process: what it notes, and what it writes to files. */
  readonly folder: string;
  /** The folder the command was given in: files are named by their way from there. */
  readonly home: string;
  readonly databases: readonly DatabaseScript[];
}

/** The place of a world's own files in its folder. */
export const filesOf = ({ folder, home }: WorldOfProcess): { readonly root: string; readonly home: string } => ({
  root: `${folder}/files`,
  home,
});

/** The header by which a process says which start it is of, where it asks the server something. */
export const tokenHeader = "x-idem-verify-token";
/** Whose code asks the server something. */
export const byHeader = "x-idem-verify-by";

/** The port at which a program that is no app serves its functions; the process is given another. */
export const programPort = 1;
/** And at which path, followed by the number of the client. */
export const programPath = "/idem/";

/** A request of the app's code that is about to leave. */
export interface AskedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Whose code asks. */
export interface AskedBy {
  /** The call of the server's it belongs to; null where it belongs to none. */
  readonly call: string | null;
  readonly step: string | null;
  /** The call was answered before. */
  readonly isLate: boolean;
  readonly place: Place | null;
}

export type FromApp =
  | { readonly kind: "hello"; readonly token: string; readonly pid: number }
  /** A port was asked for; `port` is the one it has. */
  | { readonly kind: "listening"; readonly asked: number; readonly port: number }
  | { readonly kind: "ask"; readonly id: number; readonly request: AskedRequest; readonly by: AskedBy }
  /** An effect that the process itself carries out is about to. `isStill`: the process stands still until it is answered. */
  | {
      readonly kind: "effect";
      readonly id: number;
      readonly about: AskedEffect;
      readonly by: AskedBy;
      readonly isStill: boolean;
    }
  /** It was carried out; null where it was refused. */
  | { readonly kind: "effected"; readonly id: number; readonly carried: Omit<Carried<never>, "value"> | null }
  | { readonly kind: "unproven"; readonly what: string }
  /** Refused while the app was starting: why it may not start. */
  | { readonly kind: "refused"; readonly what: string }
  | { readonly kind: "assume"; readonly what: string }
  /** Timers of the user's that are to ring yet. */
  | { readonly kind: "timers"; readonly count: number }
  | { readonly kind: "done"; readonly id: number; readonly absent: readonly AbsentField[] };

export type ToApp =
  /** Null where the connection broke. */
  | { readonly kind: "answer"; readonly id: number; readonly answer: ModelAnswer | null }
  | EffectReply
  /** The world's time, sent before each call. */
  | { readonly kind: "now"; readonly id: number; readonly nowMs: number }
  /** Events that are delivered to the world; from here on it is looked at. */
  | {
      readonly kind: "begin";
      readonly id: number;
      readonly nowMs: number;
      readonly events: readonly Json[];
      readonly world: WorldOfProcess;
    }
  | { readonly kind: "report"; readonly id: number };

/** The command's reply to an effect: carry it out, or what became of it. */
export type EffectReply =
  | { readonly kind: "go"; readonly id: number; readonly by: Omit<Applied, "key"> }
  | { readonly kind: "became"; readonly id: number; readonly became: Became };

export type Became = Exclude<Effected<never>, { kind: "happened" }> | { readonly kind: "happened" };

/** Calls back with each line that has come whole; false ends it: the line is longer than may be, or no JSON. */
export function byLine(
  take: (message: unknown) => void,
  charsMax: () => number = () => Number.POSITIVE_INFINITY,
): (text: string) => boolean {
  let rest = "";
  return (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      if (line === "") continue;
      if (line.length > charsMax()) return false;
      let message: unknown;
      try {
        message = JSON.parse(line);
      } catch {
        return false;
      }
      take(message);
    }
    return rest.length <= charsMax();
  };
}
