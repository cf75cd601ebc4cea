// Publishing takes turns: one commit of a channel at a time, with all that came while the one before it was under way. Many publishers of one
// channel would otherwise wait for each other inside the store, each with a session of its own.
import type { UlidSource } from "../../model/ulid.ts";
import { type NewMessage, sizeOf } from "../../store/channels.ts";
import type { Store } from "../../store/store.ts";

// As much as one commit should carry.
const batchMax = { messages: 100, bytes: 1024 * 1024 };

interface Waiting {
  readonly messages: readonly NewMessage[];
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface PublishQueueOptions {
  readonly store: Pick<Store, "publish">;
  readonly ids: UlidSource;
  readonly onPublished: (env: string, channel: string, messages: readonly NewMessage[], place: number) => void;
}

export class PublishQueue {
  private readonly queues = new Map<string, Waiting[]>();

  constructor(private readonly options: PublishQueueOptions) {}

  /** Resolves once they are stored, in this order. */
  publish(env: string, channel: string, said: readonly Omit<NewMessage, "id">[]): Promise<void> {
    if (said.length === 0) return Promise.resolve();
    const messages = said.map((message) => ({ ...message, id: this.options.ids.next() }));
    const bytes = messages.reduce((sum, message) => sum + sizeOf(message), 0);
    return new Promise((resolve, reject) => {
      const waiting = { messages, bytes, resolve, reject };
      const key = JSON.stringify([env, channel]);
      const queue = this.queues.get(key);
      if (queue !== undefined) {
        queue.push(waiting);
        return;
      }
      const begun = [waiting];
      this.queues.set(key, begun);
      void this.work(env, channel, begun).finally(() => this.queues.delete(key));
    });
  }

  private async work(env: string, channel: string, queue: Waiting[]): Promise<void> {
    while (queue.length > 0) {
      const batch = nextBatch(queue);
      const messages = batch.flatMap((each) => each.messages);
      try {
        const { place } = await this.options.store.publish({ env, channel, messages });
        for (const { resolve } of batch) resolve();
        this.options.onPublished(env, channel, messages, place);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
  }
}

function nextBatch(queue: Waiting[]): Waiting[] {
  const batch = [queue.shift()!];
  let { bytes, messages } = { bytes: batch[0]!.bytes, messages: batch[0]!.messages.length };
  for (let next = queue[0]; next !== undefined; next = queue[0]) {
    bytes += next.bytes;
    messages += next.messages.length;
    if (bytes > batchMax.bytes || messages > batchMax.messages) break;
    batch.push(queue.shift()!);
  }
  return batch;
}
