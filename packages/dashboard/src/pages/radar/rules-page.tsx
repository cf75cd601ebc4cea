// Rules of what is too often. The default rule can be muted, never removed.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../../api/client.ts";
import { say } from "../../frame/messages.ts";
import { PageTitle } from "../../frame/page-title.tsx";
import { ActButton, Button } from "../../parts/button.tsx";
import { functionLink } from "../../parts/decision.tsx";
import { AskFirst } from "../../parts/dialog.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Tag } from "../../parts/tag.tsx";
import { dateOf } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { useSettings } from "../../settings.ts";
import { Channels } from "./channels.tsx";
import { type Rule, useRules, useWatchedClosely } from "./radar-data.ts";
import { RadarTabs } from "./radar-tabs.tsx";
import { RuleForm } from "./rule-form.tsx";
import { ruleSentence } from "./rule-words.ts";
import "./rules-page.css";

export function Page() {
  const { data, error, refetch } = useRules();
  return (
    <>
      <PageTitle title="Radar rules" under={{ to: "/radar", text: "Radar" }}>
        Rules
      </PageTitle>
      <RadarTabs />
      <section className="card rules" aria-label="Rules">
        {data !== undefined ? (
          <ul>
            {data.map((rule) => (
              <RuleRow key={rule.name} rule={rule} />
            ))}
          </ul>
        ) : error === null ? (
          <Skeleton rows={2} />
        ) : (
          <ErrorPart
            error={error}
            what="The rules could not be read. They go on watching."
            onRetry={() => void refetch()}
          />
        )}
      </section>
      <h2>A new rule</h2>
      <RuleForm />
      <Channels />
      <WatchedClosely />
    </>
  );
}

// In the first week of an installation everything is new.
const closelyShown = 10;

/** A new thing alerts on its very first duplicate; the design has it beside the rules. */
function WatchedClosely() {
  const { data } = useWatchedClosely();
  const [isWhole, setWhole] = useState(false);
  const utc = useSettings().zone === "utc";
  const now = Date.now();
  if (data === undefined || data.length === 0) return null;
  return (
    <>
      <h2>New, and watched closely</h2>
      <section className="card rules" aria-label="Watched closely">
        <p className="about quiet">
          For its first 7 days a function or a source of webhooks alerts on its very first duplicate, weak signs
          included, and every channel gets a report a day.
        </p>
        <ul className="closely">
          {data.slice(0, isWhole ? undefined : closelyShown).map(({ what, name, until }) => (
            <li key={`${what} ${name}`}>
              <p>{what === "function" ? functionLink(name) : <bdi>Source {visibleText(name)}</bdi>}</p>
              <Tag>watched closely until {dateOf(until, now, utc)}</Tag>
            </li>
          ))}
        </ul>
        {!isWhole && data.length > closelyShown && (
          <p className="about">
            <Button look="link" onClick={() => setWhole(true)}>
              Show all {data.length}
            </Button>
          </p>
        )}
      </section>
    </>
  );
}

function RuleRow({ rule }: { readonly rule: Rule }) {
  const [asked, setAsked] = useState<"mute" | "remove" | null>(null);
  const queries = useQueryClient();
  const params = { rule: rule.name };
  const isDefault = rule.name === "default";
  const verb = rule.muted ? "Unmute" : "Mute";
  const done = async (words: string) => {
    say(`${words} The audit has it.`);
    await queries.invalidateQueries({ queryKey: ["radar", "rules"] });
  };
  return (
    <li>
      <p className={rule.muted ? "faint" : ""}>{visibleText(ruleSentence(rule))}.</p>
      {isDefault && <Tag>default</Tag>}
      {rule.muted && <Tag tone="waiting">muted</Tag>}
      <span className="acts">
        <ActButton small onClick={() => setAsked("mute")}>
          {verb}
        </ActButton>
        {!isDefault && (
          <ActButton small onClick={() => setAsked("remove")}>
            Remove
          </ActButton>
        )}
      </span>
      {asked === "mute" && (
        <AskFirst
          title={`${verb} this rule`}
          action={`${verb} the rule`}
          reason="demanded"
          onAct={async (reason) => {
            await ask("PUT /api/radar/rules/:rule", { params, body: { muted: !rule.muted, reason } });
            await done(rule.muted ? "The rule watches again." : "The rule is muted.");
          }}
          onClose={() => setAsked(null)}
        >
          <p>
            {rule.muted
              ? "It raises alerts again, from now on."
              : "It raises no alerts until it is unmuted. Alerts that are open stay open."}
          </p>
        </AskFirst>
      )}
      {asked === "remove" && (
        <AskFirst
          title="Remove this rule"
          action="Remove the rule"
          reason="demanded"
          onAct={async (reason) => {
            await ask("DELETE /api/radar/rules/:rule", { params, body: { reason } });
            await done("The rule is gone.");
          }}
          onClose={() => setAsked(null)}
        >
          <p>It raises no more alerts. Those it raised stay.</p>
        </AskFirst>
      )}
    </li>
  );
}
