// The machine as it was before this thread replaced its clock, timers and chance. Loaded before anything else.

export const realSetImmediate = globalThis.setImmediate;
export const realSetTimeout = globalThis.setTimeout;
export const realClearTimeout = globalThis.clearTimeout;
export const realFetch = globalThis.fetch;
export const RealDate = globalThis.Date;
const { performance } = globalThis;
const now = performance.now.bind(performance);
/** Milliseconds of the real steady clock. */
export const realMonoMs = (): number => now();
export const realTurn = (): Promise<void> => new Promise((resolve) => realSetImmediate(resolve));
