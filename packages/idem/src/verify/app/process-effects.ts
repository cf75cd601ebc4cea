// Effects that an app's process carries out itself (a statement, a file, a mail handed over): the command says of each whether it happens, as it does of
// requests. Killed in between, the process is never answered.
import type { Applied, AskedEffect, Carried, Effected, Outside } from "../worker/watcher.ts";
import type { Became, EffectReply, FromApp } from "./control-messages.ts";
import { askedBy } from "./served-calls.ts";

export class ProcessEffects implements Pick<Outside, "effect" | "effectLater" | "effectNow"> {
  private readonly waiting = new Map<number, (said: EffectReply) => void>();
  private count = 0;

  constructor(
    private readonly options: {
      readonly post: (message: FromApp) => void;
      /** The same, standing still until it is answered. */
      readonly ask: (message: FromApp) => EffectReply;
      /** Before the first call nothing is an effect: it is reported, and does not happen. */
      readonly isTooEarly: (about: AskedEffect) => boolean;
    },
  ) {}

  take(said: EffectReply): void {
    this.waiting.get(said.id)?.(said);
    this.waiting.delete(said.id);
  }

  private say(message: Extract<FromApp, { kind: "effect" | "effected" }>): Promise<EffectReply> {
    return new Promise((resolve) => {
      this.waiting.set(message.id, resolve);
      this.options.post(message);
    });
  }

  readonly effect = <T>(about: AskedEffect, apply: (by: Applied) => Carried<T>): Promise<Effected<T>> =>
    this.effectLater(about, async (by) => apply(by));

  readonly effectLater = async <T>(
    about: AskedEffect,
    apply: (by: Applied) => Promise<Carried<T>>,
  ): Promise<Effected<T>> => {
    if (this.options.isTooEarly(about)) return { kind: "lost" };
    const id = ++this.count;
    const said = await this.say({ kind: "effect", id, about, by: askedBy(), isStill: false });
    if (said.kind === "became") return notHappened(said.became);
    let carried: Carried<T>;
    try {
      carried = await apply({ ...said.by, key: null });
    } catch (error) {
      await this.say({ kind: "effected", id, carried: null });
      throw error;
    }
    return became(await this.say({ kind: "effected", id, carried: without(carried) }), carried);
  };

  readonly effectNow = <T>(about: AskedEffect, apply: (by: Applied) => Carried<T>): Effected<T> => {
    const { ask, isTooEarly } = this.options;
    if (isTooEarly(about)) return { kind: "lost" };
    const id = ++this.count;
    const said = ask({ kind: "effect", id, about, by: askedBy(), isStill: true });
    if (said.kind === "became") return notHappened(said.became);
    let carried: Carried<T>;
    try {
      carried = apply({ ...said.by, key: null });
    } catch (error) {
      ask({ kind: "effected", id, carried: null });
      throw error;
    }
    return became(ask({ kind: "effected", id, carried: without(carried) }), carried);
  };
}

const without = <T>({ isRepeat, isForgotten = false }: Carried<T>): Omit<Carried<never>, "value"> => ({
  isRepeat,
  isForgotten,
});

/** An effect is carried out before it is said to have happened: "happened" without that is a lost one. */
const notHappened = (said: Became): Effected<never> => (said.kind === "happened" ? { kind: "lost" } : said);

const became = <T>(said: EffectReply, { value }: Carried<T>): Effected<T> =>
  said.kind === "became" && said.became.kind !== "happened" ? said.became : { kind: "happened", value };
