// A new source: who sends, what it is called, and by which secret a delivery is known to be genuine.
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "../../api/client.ts";
import { say } from "../../frame/messages.ts";
import { Dialog, FormEnd } from "../../parts/dialog.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { addSource, choosesSecret, forgetSources, type NewSource, providers } from "./source-data.ts";
import { SourceSecret } from "./source-secret.tsx";

export function AddSource({
  first,
  onClose,
}: {
  readonly first?: NewSource["provider"] | undefined;
  readonly onClose: () => void;
}) {
  const [provider, setProvider] = useState(first ?? providers[0]!.id);
  const [name, setName] = useState<string>(first ?? providers[0]!.id);
  const [secret, setSecret] = useState("");
  const [key, setKey] = useState("");
  const [header, setHeader] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [isAdding, setAdding] = useState(false);
  const [made, setMade] = useState<string | null>(null);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const about = providers.find(({ id }) => id === provider)!;
  const isReady =
    name.trim() !== "" &&
    (secret !== "" || choosesSecret(provider)) &&
    (provider !== "generic-hmac" || header.trim() !== "") &&
    !isAdding;

  const open = () => void navigate({ to: "/webhooks/$source", params: { source: name.trim() } });
  const add = async () => {
    setAdding(true);
    setError(null);
    const paths = key
      .split(",")
      .map((path) => path.trim())
      .filter((path) => path !== "");
    const source: NewSource = {
      name: name.trim(),
      provider,
      ...(secret === "" ? {} : { secret }),
      ...(paths.length === 0 ? {} : { key: paths }),
      ...(provider === "generic-hmac" ? { header: header.trim() } : {}),
    };
    try {
      const answer = await addSource(source);
      await forgetSources(queries);
      if (answer.secret !== null) return setMade(answer.secret);
      say(`${source.name} was added. It is in the audit.`);
      onClose();
      open();
    } catch (failure) {
      setError(
        failure instanceof ApiError
          ? [failure.detail, failure.next].filter((each) => each !== null).join(". ")
          : String(failure),
      );
      setAdding(false);
    }
  };

  if (made !== null) {
    return (
      <SourceSecret
        secret={made}
        name={name.trim()}
        onClose={() => {
          onClose();
          open();
        }}
      />
    );
  }
  return (
    <Dialog title="Add a source" onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void add();
        }}
      >
        <SelectField
          label="Provider"
          value={provider}
          choices={providers.map(({ id, name: text }) => ({ value: id, text }))}
          onChange={(next) => {
            if (name === provider) setName(next);
            setProvider(next);
          }}
        />
        <TextField
          label="Name"
          hint="The last part of its address, and what its events' names begin with"
          value={name}
          onChange={setName}
        />
        <TextField
          label={choosesSecret(provider) ? "Secret (optional)" : "Secret"}
          hint={about.secret}
          value={secret}
          onChange={setSecret}
          type="password"
        />
        {provider === "generic-hmac" && (
          <TextField
            label="Header"
            hint="The header that has the signature, such as X-Signature"
            value={header}
            onChange={setHeader}
          />
        )}
        <TextField
          label="Business key (optional)"
          hint="Paths in the payload, with commas between: two deliveries that agree in all of them are one, whatever their ids"
          value={key}
          onChange={setKey}
        />
        <FormEnd error={error} isReady={isReady} onClose={onClose}>
          Add the source
        </FormEnd>
      </form>
    </Dialog>
  );
}
