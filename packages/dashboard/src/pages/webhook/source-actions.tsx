// Rotating a source's secret and removing the source: what each does, and what it does not.
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError, ask } from "../../api/client.ts";
import { useStatus } from "../../api/status.ts";
import { say } from "../../frame/messages.ts";
import { ActButton } from "../../parts/button.tsx";
import { AskFirst, Dialog, FormEnd } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { forgetSources, type Source } from "../webhooks/source-data.ts";
import { SourceSecret } from "../webhooks/source-secret.tsx";

export function SourceActions({ source }: { readonly source: Source }) {
  const [asking, setAsking] = useState<"rotate" | "drop" | "remove" | null>(null);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { data: status } = useStatus();
  const close = () => setAsking(null);
  const { name } = source;
  const drop = async () => {
    await ask("DELETE /api/webhooks/:name/secrets/old", { params: { name } });
    say(`Only the newer secret of ${name} is accepted now. It is in the audit.`);
    await forgetSources(queries);
  };
  const remove = async (reason: string) => {
    await ask("DELETE /api/webhooks/:name", { params: { name }, body: { reason } });
    say(`${name} was removed. What it received stays. It is in the audit.`);
    void navigate({ to: "/webhooks" });
    await forgetSources(queries);
  };
  // Until it is known nothing is offered that might be refused.
  if (status?.isMounted !== false)
    return status === undefined ? null : (
      <p className="quiet">Secret and address belong to an Idem server over this store: change them there.</p>
    );
  return (
    <>
      <div className="button-row">
        {source.secrets.length > 1 ? (
          <ActButton onClick={() => setAsking("drop")}>Drop the old secret</ActButton>
        ) : (
          <ActButton onClick={() => setAsking("rotate")}>Rotate the secret</ActButton>
        )}
        <ActButton onClick={() => setAsking("remove")}>Remove the source</ActButton>
      </div>
      {asking === "rotate" && <Rotate source={source} onClose={close} />}
      {asking === "drop" && (
        <AskFirst title="Drop the old secret?" action="Drop the old secret" onAct={drop} onClose={close}>
          Deliveries signed with it are refused from now on. Do it once the provider signs with the new one.
        </AskFirst>
      )}
      {asking === "remove" && (
        <AskFirst title={`Remove ${name}?`} action={`Remove ${name}`} reason="demanded" onAct={remove} onClose={close}>
          Its address answers 404 from now on, so the provider sees that nobody takes its deliveries. Events it
          delivered and their runs stay.
        </AskFirst>
      )}
    </>
  );
}

function Rotate({ source: { name, takesSecret }, onClose }: { readonly source: Source; readonly onClose: () => void }) {
  const [secret, setSecret] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [isActing, setActing] = useState(false);
  const [made, setMade] = useState<string | null>(null);
  const queries = useQueryClient();
  const isReady = (takesSecret || secret !== "") && !isActing;
  const rotate = async () => {
    setActing(true);
    setError(null);
    try {
      const answer = await ask("POST /api/webhooks/:name/secrets", {
        params: { name },
        body: secret === "" ? {} : { secret },
      });
      if (answer.secret !== null) setMade(answer.secret);
      else {
        say(`Both secrets of ${name} are accepted until the old one is dropped. It is in the audit.`);
        onClose();
      }
      await forgetSources(queries);
    } catch (failure) {
      setError(
        failure instanceof ApiError
          ? [failure.detail, failure.next].filter((each) => each !== null).join(". ")
          : String(failure),
      );
      setActing(false);
    }
  };
  if (made !== null) return <SourceSecret secret={made} name={name} onClose={onClose} />;
  return (
    <Dialog title="Rotate the secret" onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void rotate();
        }}
      >
        <p className="quiet">
          A second secret is accepted beside the one in use, so that no delivery is lost. Drop the old one once the
          provider signs with the new.
        </p>
        <TextField
          label={takesSecret ? "New secret (optional)" : "New secret"}
          hint={takesSecret ? "Leave it empty and one is made" : "As the provider shows it"}
          value={secret}
          onChange={setSecret}
          type="password"
          focusFirst
        />
        <FormEnd error={error} isReady={isReady} onClose={onClose}>
          Accept the new secret too
        </FormEnd>
      </form>
    </Dialog>
  );
}
