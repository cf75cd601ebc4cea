// DELETE /api/session: the session ends, on every node. Asked without one, there is nothing to end.
import { z } from "zod";
import { apiRoute, RawAnswer } from "../../api/api-route.ts";
import { cameByHttps, cookiePath, forgottenCookie, sessionTokenOf } from "../../people/session-cookie.ts";
import { json } from "../../route.ts";

export const signOut = apiRoute({
  method: "DELETE",
  path: "/api/session",
  summary: "Sign out: the session ends, on every node",
  tag: "session",
  viewerMay: true,
  answer: z.object({ signedOut: z.boolean().describe("False for whoever came without a session") }),
  handle: async ({ headers, actor, world }) => {
    const isSecureOnly = world.settings.secureCookies === true;
    const token = sessionTokenOf(headers.cookie, isSecureOnly);
    if (actor.session === null || token === null) return { signedOut: false };
    await world.people.signOut(token, actor.session);
    const isSecure = isSecureOnly || cameByHttps(headers);
    const cookie = forgottenCookie({ path: cookiePath, isSecure });
    return new RawAnswer({ ...json({ signedOut: true }), headers: { "set-cookie": cookie } });
  },
});
