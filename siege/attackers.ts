// The attackers, in a process of their own that gives way to all others, so that what they spend is not what honest callers wait for: they have
// machines of their own. Told which kinds to begin, and when they are over; answers with what was answered to each.
import { constants, setPriority } from "node:os";
import { kinds } from "./kinds.ts";
import type { Reaction } from "./line.ts";
import type { Target } from "./target.ts";

export interface AttackOrder {
  readonly target: Target;
  readonly kinds: readonly string[];
  readonly ms: number;
}

/** Counts of each reaction, by kind. */
export type Tally = Readonly<Record<string, Readonly<Record<string, number>>>>;

setPriority(constants.priority.PRIORITY_LOW);

process.on("message", async ({ target, kinds: names, ms }: AttackOrder) => {
  const tally: Record<string, Record<string, number>> = {};
  const endsAt = Date.now() + ms;
  await Promise.all(
    kinds
      .filter(({ name }) => names.includes(name))
      .map((kind) => {
        const counts: Record<string, number> = {};
        tally[kind.name] = counts;
        const count = (reaction: Reaction) => {
          counts[reaction] = (counts[reaction] ?? 0) + 1;
        };
        // It begins, however late a process that gives way gets to it.
        let hasBegun = false;
        const isOn = () => {
          const isFirst = !hasBegun;
          hasBegun = true;
          return isFirst || Date.now() < endsAt;
        };
        return kind.run({ target, isOn, count });
      }),
  );
  process.send!(tally);
});

process.on("disconnect", () => process.exit(0));
process.send!("ready");
