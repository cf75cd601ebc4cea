// Copies the address of the view, with its time pinned: opened tomorrow, it shows what was seen today.
import { useRouter } from "@tanstack/react-router";
import { say } from "../frame/messages.ts";
import { stringifySearch } from "../search.ts";
import { Button } from "./button.tsx";
import { copyText } from "./copy.tsx";
import { Icon } from "./icon.tsx";

interface ShareLinkProps {
  /** The time as instants, of now; nothing where the list is of any time. */
  readonly times: (now: number) => { readonly since?: string | undefined; readonly until?: string | undefined };
}

export function ShareLink({ times }: ShareLinkProps) {
  const router = useRouter();
  const copy = async () => {
    const { pathname, search } = router.state.location;
    const pinned = times(Date.now());
    const url = new URL(
      router.history.createHref(`${pathname}${stringifySearch({ ...search, ...pinned })}`),
      location.origin,
    );
    const done = await copyText(url.href);
    say(
      done
        ? pinned.until === undefined
          ? "Copied the link."
          : "Copied the link. Its time is pinned: it shows what is here now, whenever it is opened."
        : "This browser did not let the page copy. Select the address instead.",
      { brief: true },
    );
  };
  return (
    <Button small onClick={() => void copy()}>
      <Icon name="copy" size={12} /> Copy link
    </Button>
  );
}
