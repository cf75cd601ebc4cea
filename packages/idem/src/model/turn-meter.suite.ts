// For tests: what was computed between two looks of the loop at everything else, in units of cost.
import { costCharged } from "./metered-cost.ts";
import { Turns } from "./turns.ts";

export function turnMeter(): { readonly turns: Turns; readonly costs: () => readonly number[] } {
  const costs: number[] = [];
  let from = costCharged();
  const look = () => {
    costs.push(costCharged() - from);
    from = costCharged();
  };
  const turns = new Turns((run) => {
    setImmediate(() => {
      look();
      run();
    });
  });
  return {
    turns,
    costs: () => {
      look();
      return costs;
    },
  };
}
