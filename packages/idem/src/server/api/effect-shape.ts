// Effects as /api shows them.
import { z } from "zod";

export const effectItem = z.object({
  id: z.string(),
  stepId: z.string().describe("The step's id in the run's timeline"),
  step: z.string().describe("As its author wrote it, `:n` for a repeat"),
  destination: z.string(),
  entity: z.string().describe("What it is about"),
  key: z.string().describe("As it was sent; for a destination that takes none, a mark to look it up by"),
  isKeyed: z.boolean().describe("False for a destination that takes no keys"),
  state: z.enum(["sent", "in-flight", "unknown", "parked"]),
  receipt: z.string().nullable().describe("What the destination calls it"),
  firstTriedAt: z.number().int(),
  tries: z.number().int(),
  settledAt: z.number().int().nullable(),
  settledBy: z.enum(["answer", "reconcile", "person"]).nullable(),
  reason: z.string().nullable(),
});
