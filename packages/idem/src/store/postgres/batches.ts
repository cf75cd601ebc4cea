// Calls of one kind that wait together go together. Two batches at a time: while the server commits one, the next is put together, and
// neither grows without bound, or all runs of a process would march in step and the server idle in between (docs/reference/stores.md#batches).
import type { Platform } from "../../platform/platform.ts";

const inFlightMax = 2;
// Below the first, splitting costs more than it wins; above the second, others wait too long for their turn.
const size = { all: 25, most: 500 } as const;

interface Waiting<I, A> {
  readonly input: I;
  readonly resolve: (answer: A) => void;
  readonly reject: (error: unknown) => void;
}

export class Batches<I, A> {
  private queue: Waiting<I, A>[] = [];
  private inFlight = 0;
  private isPlanned = false;

  constructor(
    private readonly platform: Pick<Platform, "soon">,
    /** Answers all, in order, or fails for all. */
    private readonly together: (inputs: readonly I[]) => Promise<readonly A[]>,
    /** When they failed together: one of them was at fault, and the others must not suffer for it. */
    private readonly alone: (input: I) => Promise<A>,
  ) {}

  get waiting(): number {
    return this.queue.length;
  }

  call(input: I): Promise<A> {
    return new Promise((resolve, reject) => {
      this.queue.push({ input, resolve, reject });
      if (this.isPlanned) return;
      this.isPlanned = true;
      // What is called in this turn of the event loop goes together.
      this.platform.soon(() => {
        this.isPlanned = false;
        this.pump();
      });
    });
  }

  private pump(): void {
    while (this.inFlight < inFlightMax && this.queue.length > 0) {
      const half = Math.ceil(this.queue.length / 2);
      const batch = this.queue.splice(0, Math.min(size.most, Math.max(size.all, half)));
      this.inFlight++;
      void this.run(batch).finally(() => {
        this.inFlight--;
        this.pump();
      });
    }
  }

  private async run(batch: readonly Waiting<I, A>[]): Promise<void> {
    let answers: readonly A[];
    try {
      answers = await this.together(batch.map(({ input }) => input));
    } catch (error) {
      if (batch.length === 1) batch[0]!.reject(error);
      else await Promise.all(batch.map(({ input, resolve, reject }) => this.alone(input).then(resolve, reject)));
      return;
    }
    batch.forEach(({ resolve }, i) => {
      resolve(answers[i]!);
    });
  }
}
