// This browser's way to show things, the fields searched by, and the session.
import { type Session, useSession } from "../../api/session.ts";
import { type Status, useStatus } from "../../api/status.ts";
import { PageTitle } from "../../frame/page-title.tsx";
import { cannotAct } from "../../parts/button.tsx";
import { type Choice, Segments } from "../../parts/field.tsx";
import { Facts } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { zoneName } from "../../parts/time-words.ts";
import { changeSettings, type Settings, useSettings } from "../../settings.ts";
import { SearchFields } from "./search-fields.tsx";
import "./settings.css";

interface Setting {
  readonly name: keyof Settings;
  readonly label: string;
  readonly words: string;
  readonly choices: readonly Choice[];
}

const settings: readonly Setting[] = [
  {
    name: "theme",
    label: "Theme",
    words: "System follows what this device prefers.",
    choices: [
      { value: "system", text: "System" },
      { value: "light", text: "Light" },
      { value: "dark", text: "Dark" },
    ],
  },
  {
    name: "density",
    label: "Density",
    words: "How high the rows of lists are.",
    choices: [
      { value: "comfortable", text: "Comfortable" },
      { value: "compact", text: "Compact" },
    ],
  },
  {
    name: "zone",
    label: "Time zone",
    words: `Local is ${zoneName(false)}. Hovering over a time gives it in UTC.`,
    choices: [
      { value: "local", text: "Local" },
      { value: "utc", text: "UTC" },
    ],
  },
  {
    name: "letterKeys",
    label: "Letter keys",
    words: "Press ? for their list. They are inactive in fields, and Tab reaches everything without them.",
    choices: [
      { value: "true", text: "On" },
      { value: "false", text: "Off" },
    ],
  },
];

export function Page() {
  const now = useSettings();
  return (
    <>
      <PageTitle title="Settings" />
      <section className="card settings">
        <header>
          <h2>This browser</h2>
        </header>
        <p className="quiet intro">Kept in this browser, for whoever uses it. Other people see their own.</p>
        {settings.map(({ name, label, words, choices }) => (
          <div key={name} className="setting">
            <div>
              <h3>{label}</h3>
              <p className="quiet">{words}</p>
            </div>
            <Segments
              label={label}
              value={`${now[name]}`}
              choices={choices}
              onChange={(value) => changeSettings({ [name]: name === "letterKeys" ? value === "true" : value })}
            />
          </div>
        ))}
      </section>
      <SearchFields />
      <Person />
    </>
  );
}

function Person() {
  const { data: session } = useSession();
  const { data: status } = useStatus();
  if (session === undefined || status === undefined) return null;
  return (
    <Facts
      facts={[
        ["You are", whoWords(session, status)],
        ["You may", session.role === "viewer" ? cannotAct.replace("Your role can ", "") : "look and act"],
        ...(session.endsAt === null ? [] : [["Signed in until", <Time key="ends" at={session.endsAt} />] as const]),
        ["Server", serverWords(status)],
        ...(status.eventQuota === null ? [] : [["An event key may send", quotaWords(status.eventQuota)] as const]),
      ]}
    />
  );
}

function whoWords({ isSignedIn, actor }: Session, { isMounted, mode }: Status): string {
  if (isSignedIn) return actor;
  if (isMounted && mode === "start") return `${actor}, as the application around these pages calls you`;
  return "whoever can reach this server: it asks nobody to sign in";
}

/** Said here because a sender only hears that it was too much. */
function quotaWords({ requests, events, bytes, windowMs, keys }: NonNullable<Status["eventQuota"]>): string {
  const refused = keys.reduce((sum, key) => sum + key.refused.requests + key.refused.events + key.refused.bytes, 0);
  const size = `${(bytes / 1024 ** 2).toLocaleString("en-US", { maximumFractionDigits: 1 })} MiB`;
  const allowed = `${requests.toLocaleString("en-US")} requests, ${events.toLocaleString("en-US")} events and ${size} in ${windowMs / 1_000} s`;
  return refused === 0
    ? allowed
    : `${allowed}; ${refused.toLocaleString("en-US")} requests were refused since the start`;
}

const serverWords = ({ version, isMounted, mode }: Status): string =>
  isMounted
    ? `Idem ${version}, inside an application`
    : `Idem ${version}, ${mode === "dev" ? "for development" : "in production"}`;
