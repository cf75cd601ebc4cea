// Apart from the route, so that nothing of zod goes along to callers.

/** Of one part: its answer, in base64, stays well under what a client reads of one. */
export const partBytesMax = 4 * 1024 * 1024;
