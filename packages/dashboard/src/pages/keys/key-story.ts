import type { ExplainedDecisionItem } from "../../../../idem/src/server/api/decision-shape.ts";
import type { EventItem } from "../../../../idem/src/server/api/event-shape.ts";
import type { KeyItem } from "../../../../idem/src/server/api/key-shape.ts";
import type { RunItem } from "../../../../idem/src/server/api/run-shape.ts";

/** What GET /api/keys/:scope/:key answers. */
export interface KeyStory {
  readonly key: KeyItem;
  readonly run: RunItem | null;
  readonly event: EventItem | null;
  readonly earlier: readonly RunItem[];
  readonly spared: readonly ExplainedDecisionItem[];
  readonly duplicates: readonly EventItem[];
  readonly summary: readonly string[];
}
