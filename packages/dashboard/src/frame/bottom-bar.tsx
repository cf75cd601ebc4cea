import { Link, useRouterState } from "@tanstack/react-router";
import { useState } from "react";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { bottomPlaces, isExact, morePlaces } from "./navigation.ts";
import { useOpenAlerts } from "./open-alerts.ts";
import { SignOut } from "./sign-out.tsx";
import "./bottom-bar.css";

/** At 390 px, within reach of a thumb. */
export function BottomBar() {
  const [isMore, setMore] = useState(false);
  const alerts = useOpenAlerts();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const isUnderMore = morePlaces.some(({ to }) => path.startsWith(to));
  return (
    <nav className="bottom-bar" aria-label="Main, short">
      {bottomPlaces.map(({ to, text, icon }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: isExact(to), includeSearch: false }}
          activeProps={{ "aria-current": "page" }}
        >
          <Icon name={icon} />
          {text}
          {to === "/radar" && alerts > 0 && <span className="badge">{alerts}</span>}
        </Link>
      ))}
      <button
        type="button"
        aria-expanded={isMore}
        aria-current={isUnderMore ? "page" : undefined}
        onClick={() => setMore(true)}
      >
        <Icon name="more" />
        More
      </button>
      {isMore && (
        <Dialog title="More" onClose={() => setMore(false)}>
          <ul className="more">
            {morePlaces.map(({ to, text, icon }) => (
              <li key={to}>
                <Link
                  className="entry"
                  to={to}
                  onClick={() => setMore(false)}
                  activeOptions={{ exact: isExact(to), includeSearch: false }}
                  activeProps={{ "aria-current": "page" }}
                >
                  <Icon name={icon} />
                  {text}
                </Link>
              </li>
            ))}
            <li>
              <SignOut />
            </li>
          </ul>
        </Dialog>
      )}
    </nav>
  );
}
