// Alert channels: made, tried, changed, muted and removed here, as `idem radar channel` does it.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, ask } from "../../api/client.ts";
import { say } from "../../frame/messages.ts";
import { ActButton } from "../../parts/button.tsx";
import { AskFirst } from "../../parts/dialog.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { Tag } from "../../parts/tag.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { ChannelForm } from "./channel-form.tsx";
import { channelGoesTo } from "./channel-words.ts";
import { type Channel, useChannels } from "./radar-data.ts";
import "./channels.css";

export function Channels() {
  const { data, error, refetch } = useChannels();
  const [isAdding, setAdding] = useState(false);
  if (data === undefined && error === null) return null;
  return (
    <>
      <div className="channels-head">
        <h2>Where alerts go</h2>
        {data !== undefined && <ActButton onClick={() => setAdding(true)}>Add a channel</ActButton>}
      </div>
      <section className="card rules" aria-label="Channels">
        {data === undefined ? (
          <ErrorPart
            error={error!}
            what="The channels could not be read. Alerts are still sent."
            onRetry={() => void refetch()}
          />
        ) : data.length === 0 ? (
          <p className="about quiet">
            To nobody by themselves: no channel is set up. Add one for Slack, e-mail, a webhook or the log.
          </p>
        ) : (
          <ul>
            {data.map((channel) => (
              <ChannelRow key={channel.name} channel={channel} />
            ))}
          </ul>
        )}
      </section>
      {isAdding && (
        <ChannelForm channel={null} taken={data?.map(({ name }) => name) ?? []} onClose={() => setAdding(false)} />
      )}
    </>
  );
}

function ChannelRow({ channel }: { readonly channel: Channel }) {
  const { name, muted } = channel;
  const [asked, setAsked] = useState<"change" | "mute" | "remove" | null>(null);
  const [isTrying, setTrying] = useState(false);
  const queries = useQueryClient();
  const params = { channel: name };
  const close = () => setAsked(null);
  const verb = muted ? "Unmute" : "Mute";
  const test = async () => {
    setTrying(true);
    try {
      const { sent, why } = await ask("POST /api/radar/channels/:channel/test", { params });
      say(sent ? `Sent a test message to ${name}.` : `Not sent to ${name}: ${why ?? "no reason given"}.`);
    } catch (failure) {
      say(failure instanceof ApiError ? `${failure.detail}.` : String(failure));
    }
    setTrying(false);
  };
  const done = async (words: string) => {
    say(`${words} The audit has it.`);
    await queries.invalidateQueries({ queryKey: ["radar", "channels"] });
  };
  return (
    <li>
      <p className={muted ? "faint" : ""}>
        <b>
          <bdi>{visibleText(name)}</bdi>
        </b>
        , {channelGoesTo(channel)}
      </p>
      {muted && <Tag tone="waiting">muted</Tag>}
      <span className="acts">
        <ActButton small disabled={isTrying} onClick={() => void test()}>
          Send a test message
        </ActButton>
        {channel.kind !== "log" && (
          <ActButton small onClick={() => setAsked("change")}>
            Change
          </ActButton>
        )}
        <ActButton small onClick={() => setAsked("mute")}>
          {verb}
        </ActButton>
        <ActButton small onClick={() => setAsked("remove")}>
          Remove
        </ActButton>
      </span>
      {asked === "change" && <ChannelForm channel={channel} taken={[]} onClose={close} />}
      {asked === "mute" && (
        <AskFirst
          title={`${verb} ${name}`}
          action={`${verb} the channel`}
          reason="demanded"
          onAct={async (reason) => {
            await ask("PUT /api/radar/channels/:channel", { params, body: { muted: !muted, reason } });
            await done(muted ? `${name} is told again.` : `${name} is muted.`);
          }}
          onClose={close}
        >
          <p>
            {muted
              ? "It is told of new alerts again, from now on."
              : "It is told nothing until it is unmuted. Alerts are raised as before, and other channels are told."}
          </p>
        </AskFirst>
      )}
      {asked === "remove" && (
        <AskFirst
          title={`Remove ${name}`}
          action="Remove the channel"
          reason="demanded"
          onAct={async (reason) => {
            await ask("DELETE /api/radar/channels/:channel", { params, body: { reason } });
            await done(`${name} is gone.`);
          }}
          onClose={close}
        >
          <p>It is told nothing more, and its address is forgotten. What it was told stays told.</p>
        </AskFirst>
      )}
    </li>
  );
}
