// One field, one button. A person sent here goes back to where they were.
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError, ask } from "../../api/client.ts";
import { sessionKey, sessionOf } from "../../api/session.ts";
import { basePath } from "../../base-path.ts";
import { PageTitle } from "../../frame/page-title.tsx";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { Brand } from "../../parts/icon.tsx";
import { parseSearch } from "../../search.ts";
import { keepKnownWord, knownWord } from "./known-word.ts";
import "./login.css";

export function Page() {
  const { to } = useSearch({ from: "/login" });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [password, setPassword] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [isAsking, setAsking] = useState(false);
  const signIn = async () => {
    setAsking(true);
    setError(null);
    try {
      const { known, ...answer } = await ask("POST /api/session", { body: { password, ...knownWord() } });
      const session = sessionOf(answer);
      keepKnownWord(known);
      // Parts that show something refused before ask again.
      queries.clear();
      queries.setQueryData(sessionKey, session);
      await navigate({ ...placeOf(to), replace: true });
    } catch (failure) {
      setError(failure instanceof ApiError ? wordsOf(failure) : String(failure));
      setPassword("");
      setAsking(false);
    }
  };
  return (
    <>
      <PageTitle title="Sign in" />
      <form
        className="login card"
        onSubmit={(event) => {
          event.preventDefault();
          if (password !== "" && !isAsking) void signIn();
        }}
      >
        <p className="brand">
          <Brand />
          Idem
        </p>
        <TextField
          label="Password"
          type="password"
          value={password}
          onChange={setPassword}
          error={error}
          hint={
            <>
              The password this server was started with. Where none was set, Idem printed a secret in its terminal when
              it first started; set <code>IDEM_PASSWORD</code> to choose another, or start it once with{" "}
              <code>--new-secret</code>.
            </>
          }
          focusFirst
        />
        <Button type="submit" look="primary" disabled={password === "" || isAsking}>
          Sign in
        </Button>
      </form>
    </>
  );
}

/** "Wrong password. 4 tries left, then wait 1 minute." */
function wordsOf({ status, code, detail, next }: ApiError): string {
  const isAboutPassword = code === "SIGN_IN_REFUSED" || code === "SIGN_IN_LIMITED" || status === 401;
  return isAboutPassword || next === null ? `${detail}.` : `${detail}. ${next}.`;
}

/** Only a page of this dashboard: an address in an address is a stranger's word. */
function placeOf(to: string | undefined): { readonly to: string; readonly search: Record<string, string> } {
  const home = { to: "/", search: {} };
  if (to === undefined || !to.startsWith("/")) return home;
  let url: URL;
  try {
    url = new URL(to, location.origin);
  } catch {
    return home;
  }
  if (url.origin !== location.origin) return home;
  const path = url.pathname.startsWith(basePath) ? `/${url.pathname.slice(basePath.length)}` : url.pathname;
  return path.endsWith("/login") ? home : { to: path, search: parseSearch(url.search) };
}
