// What the toolkit raises: idem/http, idem/webhooks, idem/toolkit and the databases behind them.
import { define, type ErrorDefinition } from "./error-definition.ts";

export const toolkitErrors = {
  COMMIT_UNKNOWN: define<{ why: string }>({
    retry: "later",
    what: ({ why }) =>
      `The connection was lost while the transaction was committed, so nobody knows whether it was: ${why}`,
    next: "Ask again with the same key: what was committed is found, what was not is done",
  }),
  TRANSACTION_ABORTED: define<{ why: string }>({
    retry: "after-fix",
    what: ({ why }) => `A statement of the transaction failed and its body went on, so nothing was committed: ${why}`,
    next: "Let the body throw what the statement threw, or use a savepoint around it",
  }),
  TRANSACTION_ASYNC: define<{ call: string }>({
    retry: "after-fix",
    what: ({ call }) => `${call} was given an async function, and this driver's transactions end at the first await`,
    next: "Make the body synchronous, or read before the transaction and write in it; nothing was written",
  }),
  TOOLKIT_OPTION_INVALID: define<{ call: string; option: string; why: string }>({
    retry: "after-fix",
    what: ({ call, option, why }) => `${call}: the option ${option} cannot be used: ${why}`,
    next: "Correct the option; nothing was done",
  }),
} satisfies Record<string, ErrorDefinition>;
