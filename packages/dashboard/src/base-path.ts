// The dashboard's mount path: "/" at a server of its own, "/idem/" beside an app. The server writes it into the page.

const written = document.querySelector<HTMLMetaElement>('meta[name="idem-base"]')?.content ?? "/";

/** Begins and ends with a slash. */
export const basePath = written.endsWith("/") ? written : `${written}/`;

/** An address of the API as the browser must ask for it: "api/events" under the mount path. */
export const addressOf = (path: string): string => basePath + path.replace(/^\//, "");
