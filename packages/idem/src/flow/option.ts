// One option that says how a function's runs may begin: how it is read, and how it is written to others. Its words are in its words.ts, its
// shape for /api in its shape.ts, what a start has to pass by it in its plan.ts.
import type { FlowWritten } from "./options.ts";

export interface FlowOption<Config> {
  /** As authors write it. */
  readonly written: keyof FlowWritten;
  /** Its field of a registration, where that has another name. */
  readonly onWire?: string;
  /** It keeps events until one run is started for them: ticks pass it by. */
  readonly gathers?: true;
  /** It is decided by one event, and cannot stand beside what gives a run many. */
  readonly byOneEvent?: true;
  /** One run has many events. */
  readonly manyEvents?: true;
  /**
   * Checks an author's value or one from a wire; undefined for one that says nothing. A field nobody knows is passed over here: on a wire it
   * may come from an SDK newer than this. Throws OPTION_INVALID, EXPRESSION_INVALID or DURATION_INVALID, each with the path of the option.
   */
  read(value: unknown): Config | undefined;
  /** Throws OPTION_UNKNOWN, for what was written in this process. */
  refuseUnknown(where: string, value: unknown): void;
  /** Takes away what SDKs write for what is not there; `fields`: what else the registration has. */
  fromWire?(value: unknown, fields: Readonly<Record<string, unknown>>): unknown;
  /** Read from there as the same configuration; written field by field (protocol/wire-flow.ts) unless given. */
  toWire?(config: Config): unknown;
}
