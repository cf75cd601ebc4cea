// A realtime token's content: the topics its holder may hear, or the run whose events it may follow.
import { errors } from "../../model/errors.ts";
import type { ChannelTopic } from "../../protocol/realtime-frames.ts";
import type { Tokens } from "../tokens.ts";
import { realtimeLimits } from "./limits.ts";

export interface Hearing {
  readonly topics: readonly ChannelTopic[];
  /** The run whose channel it is: it ends when that run does. */
  readonly runId?: string;
  readonly lifeMs?: number;
}

export const mintRealtimeToken = (tokens: Tokens, env: string, hearing: Hearing): string =>
  tokens.mint(
    env,
    "realtime",
    {
      topics: hearing.topics.map(({ channel, topic }) => [channel, topic]),
      ...(hearing.runId === undefined ? {} : { run: hearing.runId }),
    },
    hearing.lifeMs ?? realtimeLimits.tokenLifeMs,
  );

/** Throws UNAUTHORIZED. */
export function readRealtimeToken(
  tokens: Tokens,
  token: string | null,
): { readonly env: string; readonly topics: readonly ChannelTopic[]; readonly runId: string | null } {
  const read = tokens.read(token, "realtime");
  if (read === null) throw errors.UNAUTHORIZED({ why: "its token is unknown here, or has expired" });
  const { topics, run } = read.claims as { topics: readonly [string, string][]; run?: string };
  return {
    env: read.env,
    topics: topics.map(([channel, topic]) => ({ channel, topic })),
    runId: run ?? null,
  };
}
