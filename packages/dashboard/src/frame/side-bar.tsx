import { Link } from "@tanstack/react-router";
import { envNow } from "../api/client.ts";
import { useMayAct } from "../api/session.ts";
import { useFreshStatus, useStatus } from "../api/status.ts";
import { cannotAct } from "../parts/button.tsx";
import { Brand, Icon } from "../parts/icon.tsx";
import { zoneName } from "../parts/time-words.ts";
import { useSettings } from "../settings.ts";
import { isExact, type Place, places, placesUnderEnvironment } from "./navigation.ts";
import { useOpenAlerts } from "./open-alerts.ts";
import { SignOut } from "./sign-out.tsx";
import "./side-bar.css";

export function SideBar() {
  useFreshStatus();
  return (
    <nav className="side-bar" aria-label="Main">
      <div className="brand">
        <Brand />
        <span className="name">Idem</span>
        <Environment />
      </div>
      {places.map((place) => (
        <Entry key={place.to} place={place} />
      ))}
      <div className="foot">
        {placesUnderEnvironment.map((place) => (
          <Entry key={place.to} place={place} />
        ))}
        <SignOut />
        <RoleWords />
        <Figures />
      </div>
    </nav>
  );
}

function Entry({ place: { to, text, icon } }: { readonly place: Place }) {
  const alerts = useOpenAlerts();
  return (
    <Link
      className="entry"
      to={to}
      title={text}
      activeOptions={{ exact: isExact(to), includeSearch: false }}
      activeProps={{ "aria-current": "page" }}
    >
      <Icon name={icon} />
      <span className="name">{text}</span>
      {to === "/radar" && alerts > 0 && (
        <span className="badge">
          {alerts}
          <span className="spoken"> open {alerts === 1 ? "alert" : "alerts"}</span>
        </span>
      )}
    </Link>
  );
}

/** Changing the world changes everything: the page is loaded anew, and nothing of the other world is left in it. */
function Environment() {
  const { data } = useStatus();
  const now = envNow();
  const others = data?.environments ?? [];
  const names = others.includes(now) ? others : [now, ...others];
  if (names.length < 2) return <small className="environment">{now}</small>;
  return (
    <select
      className="environment"
      aria-label="Environment"
      value={now}
      onChange={({ target }) => {
        location.search = target.value === "default" ? "" : `?env=${encodeURIComponent(target.value)}`;
      }}
    >
      {names.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

/** Tells viewers once, where they see it, that they may only look. */
function RoleWords() {
  return useMayAct() ? null : <p className="figures">{cannotAct}.</p>;
}

function Figures() {
  const { data } = useStatus();
  const utc = useSettings().zone === "utc";
  if (data === undefined) return <p className="figures">&nbsp;</p>;
  const { count } = data.functions;
  return (
    <p className="figures">
      {count} {count === 1 ? "function" : "functions"}
      <br />
      Store: {storeName(data.store)}
      <br />
      Times: {zoneName(utc)}
    </p>
  );
}

const storeName = (store: string): string =>
  /^postgres/.test(store)
    ? "PostgreSQL"
    : /^sqlite/.test(store)
      ? "SQLite"
      : /^memory/.test(store)
        ? "memory"
        : "its own";
