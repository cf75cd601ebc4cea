import { ask } from "../api/client.ts";
import { useSession } from "../api/session.ts";
import { addressOf } from "../base-path.ts";
import { Icon } from "../parts/icon.tsx";

/** There for people who signed in. */
export function SignOut() {
  const { data } = useSession();
  if (data?.isSignedIn !== true) return null;
  const leave = async () => {
    await ask("DELETE /api/session", {});
    location.assign(addressOf("login"));
  };
  return (
    <button type="button" className="entry" onClick={() => void leave()}>
      <Icon name="leave" />
      <span className="name">Sign out</span>
    </button>
  );
}
