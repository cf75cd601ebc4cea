// Every bound of durable endpoints, each with its reason.

const minute = 60 * 1_000;

export const endpointLimits = {
  // The event with the request's body and the steps of one report.
  reportBytesMax: 8 * 1024 * 1024,
  // Nothing but its reports says that an app is alive. A step of its own that takes longer is entered twice.
  silentMs: minute,
  // The wait for an answer, in one request (docs/reference/wire.md#durable-endpoints); callers come back.
  outputWaitMs: 5 * minute,
  // A caller is sent here when its run waits for something; what another node ends soon is heard of as soon.
  lookAfterMs: 50,
  // A caller that comes back for its answer a day later has given up.
  tokenLifeMs: 24 * 60 * minute,
  // A run being driven costs a map entry and a timer.
  drivesMax: 10_000,
  // Paths with ids in them would make functions without end; beyond this they share one name.
  functionsMax: 500,
  nameCharsMax: 200,
  // A run whose worker just changed, after a restart say, is taken up by then.
  takeUpMs: 2_000,
  // By another node, which hears of it by a hint or looks within a second.
  takeUpElsewhereMs: 5_000,
  // A report is committed in milliseconds; a store that needs longer is unwell, and the app asks again.
  keptMs: 5_000,
  // By another node. One that has died is replaced within 30 s: the app asks again five times.
  keptElsewhereMs: 10_000,
  // The handler's answer, as for any call.
  replyBytesMax: 8 * 1024 * 1024,
} as const;
