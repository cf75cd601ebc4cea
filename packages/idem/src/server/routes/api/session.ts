// /api/session: who is signed in, as a page asks for it: what it may do, and what it must send along to do it.
import { z } from "zod";
import { apiRoute, RawAnswer } from "../../api/api-route.ts";
import { type Actor, sessionActor } from "../../people/actor.ts";
import { knownWordCharsMax } from "../../people/known-browser.ts";
import { passwordCharsMax } from "../../people/passwords.ts";
import {
  cameByHttps,
  cookiePath,
  forgottenCookie,
  sessionCookie,
  sessionTokenOf,
} from "../../people/session-cookie.ts";
import { sessionLifeMs } from "../../people/sessions.ts";
import { json } from "../../route.ts";

const sessionItem = z.object({
  role: z.enum(["operator", "viewer"]).describe("A viewer can look but not act"),
  actor: z.string().describe("What the audit calls them"),
  csrf: z
    .string()
    .nullable()
    .describe("To be sent as X-Idem-CSRF with everything that changes something; null where no cookie was shown"),
  startedAt: z.number().int().nullable(),
  endsAt: z.number().int().nullable().describe("When the session ends if nothing more is asked; null without one"),
});

const sessionItemOf = ({ role, name, session }: Actor): z.input<typeof sessionItem> => ({
  role,
  actor: name,
  csrf: session?.csrf ?? null,
  startedAt: session?.startedAt ?? null,
  endsAt: session?.endsAt ?? null,
});

export const readSession = apiRoute({
  method: "GET",
  path: "/api/session",
  summary: "Who asks, what they may do, and until when",
  tag: "session",
  answer: sessionItem,
  handle: ({ actor }) => sessionItemOf(actor),
});

// A password, and nothing else.
const bodyBytesMax = 8 * 1024;

/** A person shows a password and is given a cookie. `idem dev` asks nobody and gives none. */
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

/** Asked without a session, there is nothing to end. */
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
