// An app's remarks on a run or one of its steps, for people: scores, what a model cost, notes of its author. Nothing is decided by it.

export interface MetadataChange {
  /** "" for the run itself; the step may be one that is never recorded. */
  readonly stepId: string;
  readonly kind: string;
  /** Over what is there field by field, or instead of it. */
  readonly op: "merge" | "set";
  /** JSON text of an object. */
  readonly value: string;
}
