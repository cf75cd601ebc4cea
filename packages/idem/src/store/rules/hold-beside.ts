// The slots of its limits that a run holds beside its own, for steps that run side by side (docs/decisions/0053). They stand on the run's
// job, so whatever ends the lease gives them back.
import {
  type BesideAsked,
  besideNow,
  besideOf,
  countedSlots,
  grantBeside,
  keptBeside,
} from "../../flow/concurrency/beside.ts";
import { readLane } from "../../flow/lane.ts";
import type { RuleTransaction } from "./database.ts";
import type { Rule } from "./rule.ts";

const selectJobSql = "select lane, beside_1, beside_2, beside_turn from jobs where env = ? and id = ?";
const writeJobSql = "update jobs set beside_1 = ?, beside_2 = ?, beside_turn = ? where env = ? and id = ?";

/** The slots of a leased job: those of its lane, and those beside. */
export interface HeldJob {
  readonly lane: string | null;
  readonly beside_1: number;
  readonly beside_2: number;
}

export interface HeldBeside {
  /** The number it holds now. */
  readonly beside: number;
  /** Whether somebody may want what it gave back. */
  readonly freed: boolean;
}

/** Of a job that the caller was found to hold. Where there may be more to take, its slots are locked by now. */
export function* holdBeside(tx: RuleTransaction, env: string, jobId: string, asked: BesideAsked): Rule<HeldBeside> {
  const job = (yield* tx.one<HeldJob & { readonly beside_turn: number }>(selectJobSql, env, jobId))!;
  const { lane, beside_1, beside_2 } = job;
  if (lane === null) return { beside: 0, freed: false };
  const held = [beside_1, beside_2] as const;
  const counted = countedSlots(readLane(lane).slots, asked);
  if (asked.turn <= job.beside_turn) return { beside: besideNow(counted, held), freed: false };
  const slots = asked.want > keptBeside(asked, held) ? counted.map(({ slot }) => slot) : [];
  const used = yield* tx.slotUses(slots);
  const isInLine = slots.length > 0 && (yield* tx.isInLine(env, slots));
  const now = { held, used: (slot: string) => used.get(slot) ?? 0, isInLine: () => isInLine };
  const beside = grantBeside(asked, counted, now);
  const after = besideOf(counted, beside);
  tx.write(writeJobSql, ...after, asked.turn, env, jobId);
  if (after[0] === beside_1 && after[1] === beside_2) return { beside, freed: false };
  return { beside, freed: tx.heldBeside(lane, held, after) };
}
