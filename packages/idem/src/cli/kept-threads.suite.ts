// Threads that outlive the command that ends them: to load everything anew is most of what a command costs that plays a few worlds. One that was still at work
// when it was ended is ended.
import type { Platform, Thread } from "../platform/platform.ts";

interface Kept {
  readonly thread: Thread;
  isAtWork: boolean;
  take: (message: unknown) => void;
  ended: (error: Error | null) => void;
}

const nobody = () => {};

export class KeptThreads {
  private readonly free: Kept[] = [];
  private readonly all = new Set<Kept>();

  constructor(private readonly platform: Pick<Platform, "startThread">) {}

  /** For threads of one kind: the next command's are those of the last one. */
  readonly startThread = (file: string, input: unknown): Thread => {
    const kept = this.free.pop() ?? this.start(file, input);
    return {
      post: (message) => {
        kept.isAtWork = true;
        kept.thread.post(message);
      },
      onMessage: (take) => {
        kept.take = take as Kept["take"];
      },
      onEnd: (take) => {
        kept.ended = take;
      },
      terminate: async () => {
        Object.assign(kept, { take: nobody, ended: nobody });
        if (kept.isAtWork) await kept.thread.terminate();
        else if (this.all.has(kept)) this.free.push(kept);
      },
      ref: (keepAlive) => kept.thread.ref(keepAlive),
    };
  };

  async close(): Promise<void> {
    await Promise.all([...this.all].map(({ thread }) => thread.terminate()));
  }

  private start(file: string, input: unknown): Kept {
    const thread = this.platform.startThread(file, input);
    const kept: Kept = { thread, isAtWork: false, take: nobody, ended: nobody };
    thread.onMessage((message) => {
      kept.isAtWork = false;
      kept.take(message);
    });
    thread.onEnd((error) => {
      this.all.delete(kept);
      kept.ended(error);
    });
    this.all.add(kept);
    return kept;
  }
}
