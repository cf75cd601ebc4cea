// Every bound of realtime, each with its reason.

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

export const realtimeLimits = {
  // Inngest's own bound for one message.
  messageBytesMax: 512 * kibibyte,
  // A published stream arrives in pieces of at most this size, and a thousand of them at most (docs/reference/wire.md#realtime).
  chunkBytesMax: kibibyte,
  streamBytesMax: 1_000 * kibibyte,
  // Everything one run says to its caller; it is passed on and not kept.
  teeBytesMax: 16 * mebibyte,
  // Two of the largest messages may wait for a subscriber; one that is further behind is dropped and may come back.
  waitingBytesMax: 1 * mebibyte,
  // Messages that wait for all of them together must not fill this process's memory.
  waitingBytesTotalMax: 128 * mebibyte,
  // File descriptors are shared with apps and their callers.
  subscribersMax: 5_000,
  // A page that many people have open may share a token; one that leaked must not be everybody's place.
  subscribersPerTokenMax: 500,
  // Signing keys of one environment make as many tokens as they like: a fifth of the places stays for other environments.
  subscribersPerEnvironmentMax: 4_000,
  // Proxies cut connections that are silent for a minute.
  pingMs: 25_000,
  // A dropped subscriber learns why; one that does not even read that is cut off.
  closeGraceMs: 5_000,
  // Asked for, handed to a browser, used to connect: seconds. An open connection outlives its token.
  tokenLifeMs: 5 * 60 * 1_000,
  // An app's last words on a run and its answer to the call travel side by side; the answer may be here first.
  lastWordsMs: 2_000,
  // A stream of bytes that never completes an event is not server-sent events.
  eventBytesMax: 512 * kibibyte,
} as const;
