// Where alerts go. Channels are made with `idem radar channel add` or the API, for their addresses are secrets; here they are tried.
import { useState } from "react";
import { ApiError, sendJson } from "../../api/client.ts";
import { say } from "../../frame/messages.ts";
import { ActButton } from "../../parts/button.tsx";
import { Tag } from "../../parts/tag.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { type Channel, useChannels } from "./radar-data.ts";

export function Channels() {
  const { data } = useChannels();
  if (data === undefined) return null;
  return (
    <>
      <h2>Where alerts go</h2>
      <section className="card rules" aria-label="Channels">
        {data.length === 0 ? (
          <p className="no-channels quiet">
            To nobody by themselves: no channel is set up. <code>idem radar channel add</code> makes one for Slack,
            e-mail or a webhook.
          </p>
        ) : (
          <ul>
            {data.map((channel) => (
              <ChannelRow key={channel.name} channel={channel} />
            ))}
          </ul>
        )}
      </section>
    </>
  );
}

function ChannelRow({ channel: { name, kind, host, to, muted } }: { readonly channel: Channel }) {
  const [isTrying, setTrying] = useState(false);
  const test = async () => {
    setTrying(true);
    try {
      const path = `api/radar/channels/${encodeURIComponent(name)}/test`;
      const { sent, why } = await sendJson<{ sent: boolean; why: string | null }>("POST", path);
      say(sent ? `Sent a test message to ${name}.` : `Not sent to ${name}: ${why ?? "no reason given"}.`);
    } catch (failure) {
      say(failure instanceof ApiError ? `${failure.detail}.` : String(failure));
    }
    setTrying(false);
  };
  return (
    <li>
      <p className={muted ? "faint" : ""}>
        <b>
          <bdi>{visibleText(name)}</bdi>
        </b>
        , {kind}
        {host !== null && ` at ${visibleText(host)}`}
        {to.length > 0 && `, to ${to.map(visibleText).join(", ")}`}
      </p>
      {muted && <Tag tone="waiting">muted</Tag>}
      <span className="acts">
        <ActButton small disabled={isTrying} onClick={() => void test()}>
          Send a test message
        </ActButton>
      </span>
    </li>
  );
}
