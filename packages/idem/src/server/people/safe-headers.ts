// Browsers' rules for answers for people: nothing of them is code, nothing may be framed, and where they lead learns nothing of where one
// came from. Every answer forbids guessing types and caching (send-answer.ts).

/** For JSON and texts: whatever stands in them, a browser that shows them as a page runs and loads nothing. */
export const dataHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
};

/** For pages: only files of this server, no inline script or style, nothing from elsewhere. */
export const pageHeaders: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cross-origin-opener-policy": "same-origin",
};
