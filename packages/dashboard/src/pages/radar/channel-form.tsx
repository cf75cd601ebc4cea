// A channel for alerts: its kind, its address, and why. An address is written and never shown again; a new webhook's secret is
// shown once.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, ask } from "../../api/client.ts";
import { say } from "../../frame/messages.ts";
import { Dialog, FormEnd } from "../../parts/dialog.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { SecretOnce } from "../../parts/secret-once.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { addressesOf, addressHint, bodyOf, type ChannelDraft, kindNames, whyNotYet } from "./channel-words.ts";
import { type Channel, type ChannelKind, channelKinds } from "./radar-data.ts";

interface ChannelFormProps {
  /** The one that is changed; null to make one. */
  readonly channel: Channel | null;
  /** Names that are taken. */
  readonly taken: readonly string[];
  readonly onClose: () => void;
}

export function ChannelForm({ channel, taken, onClose }: ChannelFormProps) {
  const [draft, setDraft] = useState<ChannelDraft>({
    name: channel?.name ?? "",
    kind: channel?.kind ?? "slack",
    url: "",
    from: channel?.from ?? "",
    to: channel?.to.join(", ") ?? "",
    reason: "",
  });
  const [error, setError] = useState<string | null>(null);
  const [isSaving, setSaving] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const queries = useQueryClient();
  const change = (some: Partial<ChannelDraft>) => setDraft({ ...draft, ...some });
  const { name, kind } = draft;
  const isNew = channel === null;
  const isTaken = isNew && taken.includes(name.trim());
  const isReady = !isSaving && !isTaken && whyNotYet(draft, isNew) === null;
  const save = async () => {
    setSaving(true);
    setError(null);
    try {
      const answer = await ask("PUT /api/radar/channels/:channel", {
        params: { channel: name.trim() },
        body: bodyOf(draft, isNew),
      });
      await queries.invalidateQueries({ queryKey: ["radar", "channels"] });
      if (answer.secret !== null) return setSecret(answer.secret);
      say(`${isNew ? `${name.trim()} is told of every new alert.` : `${name} was changed.`} The audit has it.`);
      onClose();
    } catch (failure) {
      setError(failure instanceof ApiError ? `${failure.detail}.` : String(failure));
      setSaving(false);
    }
  };
  if (secret !== null)
    return (
      <SecretOnce name={name.trim()} secret={secret} onClose={onClose}>
        Give it to the receiver now: deliveries are signed with it. It is shown this once. If it is lost, remove the
        channel and add another.
      </SecretOnce>
    );
  return (
    <Dialog title={isNew ? "Add a channel" : `Change ${visibleText(name)}`} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void save();
        }}
      >
        {isNew && (
          <>
            <SelectField
              label="Kind"
              value={kind}
              onChange={(next) => change({ kind: next as ChannelKind })}
              choices={channelKinds.map((each) => ({ value: each, text: kindNames[each] }))}
            />
            <TextField
              label="Name"
              hint="Small letters, digits and dashes, such as ops"
              error={isTaken ? "There is a channel of this name already." : null}
              value={name}
              onChange={(next) => change({ name: next })}
              focusFirst
            />
          </>
        )}
        {kind !== "log" && (
          <TextField
            label={isNew ? "Address" : "New address (optional)"}
            hint={addressHint(kind, channel)}
            value={draft.url}
            onChange={(url) => change({ url })}
          />
        )}
        {kind === "email" && (
          <>
            <TextField
              label="From"
              hint="Such as radar@example.com"
              value={draft.from}
              onChange={(from) => change({ from })}
            />
            <TextField
              label="To"
              hint="With commas between"
              value={draft.to}
              onChange={(to) => change({ to })}
              error={addressesOf(draft.to).length > 20 ? "There can be 20 at most." : null}
            />
          </>
        )}
        <TextField
          label="Reason"
          hint="Kept in the audit, without the address"
          value={draft.reason}
          onChange={(reason) => change({ reason })}
        />
        <FormEnd error={error} isReady={isReady} onClose={onClose}>
          {isNew ? "Add the channel" : "Change the channel"}
        </FormEnd>
      </form>
    </Dialog>
  );
}
