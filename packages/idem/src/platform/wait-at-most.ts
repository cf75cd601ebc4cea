// Something that may never end, waited for as long as it is worth it. It goes on by itself; what becomes of it then is nobody's.
import type { Platform, Timer } from "./platform.ts";

/** Whether it ended in time; an end in failure is an end. */
export async function waitAtMost(
  platform: Pick<Platform, "timer">,
  ms: number,
  done: Promise<unknown>,
): Promise<boolean> {
  let timer: Timer | null = null;
  const late = new Promise<false>((resolve) => {
    timer = platform.timer(ms, () => resolve(false));
  });
  const ended = done.then(
    () => true,
    () => true,
  );
  const isEnded = await Promise.race([ended, late]);
  (timer as Timer | null)?.cancel();
  return isEnded;
}
