// Letters to the node that executes a run, left by the node they reached: a worker's reply, the findings of a durable endpoint's handler. No
// node calls another, so a letter is left in a channel of the run; the run's node reads it there, on a hint or within a second.
//
// A letter is read by the node that has the run when it comes, and by the next one to have it. Which of them it is meant for stands in it.
import type { FollowChannels } from "./follow-channels.ts";
import type { PublishQueue } from "./publish-queue.ts";

export type Letter =
  /** A worker's reply to a call, as protobuf in base64. */
  | { readonly kind: "reply"; readonly requestId: string; readonly response: string }
  /** A worker still works on a call: it shows one lease and was given another. */
  | { readonly kind: "extend"; readonly requestId: string; readonly leaseId: string; readonly newLeaseId: string }
  /** The app that drives a run handed over with this, as JSON. */
  | { readonly kind: "report"; readonly json: string };

export interface OpenOptions {
  /** Letters that were left before are of interest as well. */
  readonly fromBefore: boolean;
}

export class Letters {
  constructor(
    private readonly follow: Pick<FollowChannels, "follow">,
    private readonly queue: Pick<PublishQueue, "publish">,
  ) {}

  /** Resolves once it is stored. */
  send(env: string, runId: string, letter: Letter): Promise<void> {
    return this.queue.publish(env, boxOf(runId), [{ topic: letter.kind, body: JSON.stringify(letter) }]);
  }

  /** The answer closes it. */
  open(env: string, runId: string, { fromBefore }: OpenOptions, hear: (letter: Letter) => void): () => void {
    const following = this.follow.follow(env, boxOf(runId), 0, fromBefore, {
      hasRoom: () => true,
      hear: ({ body }) => {
        hear(JSON.parse(body) as Letter);
        return true;
      },
      missed: () => {},
    });
    return () => following.stop();
  }
}

const boxOf = (runId: string): string => `run ${runId}`;
