// The caller's address. A Fetch request does not have it; the listener that makes one of a Node request (serve/fetch-listener.ts) notes it here.
const addresses = new WeakMap<Request, string>();

export const noteAddress = (request: Request, address: string): void => void addresses.set(request, address);

/** Null where none was noted. */
export const notedAddress = (request: Request): string | null => addresses.get(request) ?? null;

/** Web standard Request and Response. */
export type FetchHandler = (request: Request) => Promise<Response>;
