// A steady clock that all threads of a process read alike; `performance.now()` begins anew in each of them.

export const steadyMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;
