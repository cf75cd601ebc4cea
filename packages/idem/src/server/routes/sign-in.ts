// POST /api/session: a person shows a password and is given a cookie. `idem dev` asks nobody and gives none.
import { z } from "zod";
import { apiRoute, RawAnswer } from "../api/api-route.ts";
import { sessionItem, sessionItemOf } from "../api/session-shape.ts";
import { sessionActor } from "../people/actor.ts";
import { passwordCharsMax } from "../people/passwords.ts";
import { cameByHttps, cookiePath, sessionCookie, sessionTokenOf } from "../people/session-cookie.ts";
import { sessionLifeMs } from "../people/sessions.ts";
import { json } from "../route.ts";

// A password, and nothing else.
const bodyBytesMax = 8 * 1024;

export const signIn = apiRoute({
  method: "POST",
  path: "/api/session",
  summary: "Sign in with a password; the session is in the cookie it sets",
  tag: "session",
  access: "sign-in",
  bodyBytesMax,
  body: { password: z.string().min(1).max(passwordCharsMax) },
  answer: sessionItem,
  handle: async ({ body, headers, address, actor, world }) => {
    const { credentials, people, settings } = world;
    if (!credentials.required) return sessionItemOf(actor);
    const { token, session } = await people.signIn(body.password, address, sessionTokenOf(headers.cookie));
    const isSecure = settings.secureCookies === true || cameByHttps(headers);
    const cookie = sessionCookie(token, { path: cookiePath, isSecure, lifeSeconds: sessionLifeMs / 1_000 });
    return new RawAnswer({ ...json(sessionItemOf(sessionActor(session))), headers: { "set-cookie": cookie } });
  },
});
