// POST /api/session: a person shows a password and is given a cookie. `idem dev` asks nobody and gives none.
import { z } from "zod";
import { apiRoute, RawAnswer } from "../../api/api-route.ts";
import { sessionItem, sessionItemOf } from "../../api/session-shape.ts";
import { sessionActor } from "../../people/actor.ts";
import { knownWordCharsMax } from "../../people/known-browser.ts";
import { passwordCharsMax } from "../../people/passwords.ts";
import { cameByHttps, cookiePath, sessionCookie, sessionTokenOf } from "../../people/session-cookie.ts";
import { sessionLifeMs } from "../../people/sessions.ts";
import { json } from "../../route.ts";

// A password, and nothing else.
const bodyBytesMax = 8 * 1024;

export const signIn = apiRoute({
  method: "POST",
  path: "/api/session",
  summary: "Sign in with a password; the session is in the cookie it sets",
  tag: "session",
  access: "sign-in",
  bodyBytesMax,
  body: {
    password: z.string().min(1).max(passwordCharsMax),
    known: z.string().max(knownWordCharsMax).optional().describe("`known` of the answer before, from the same browser"),
  },
  answer: sessionItem.extend({
    known: z
      .string()
      .nullable()
      .describe(
        "To be shown next time: wrong passwords of others are then not held against this browser. Opens nothing",
      ),
  }),
  handle: async ({ body, headers, address, actor, world }) => {
    const { credentials, people, settings } = world;
    if (!credentials.required) return { ...sessionItemOf(actor), known: null };
    const isSecureOnly = settings.secureCookies === true;
    const from = { address, before: sessionTokenOf(headers.cookie, isSecureOnly), known: body.known ?? null };
    const { token, session, known } = await people.signIn(body.password, from);
    const isSecure = isSecureOnly || cameByHttps(headers);
    const cookie = sessionCookie(token, { path: cookiePath, isSecure, lifeSeconds: sessionLifeMs / 1_000 });
    const answer = { ...sessionItemOf(sessionActor(session)), known };
    return new RawAnswer({ ...json(answer), headers: { "set-cookie": cookie } });
  },
});
