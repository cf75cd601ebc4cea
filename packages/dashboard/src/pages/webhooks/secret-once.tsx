// A secret that was made here: shown this once, and gone when it is closed.
import { say } from "../../frame/messages.ts";
import { Button } from "../../parts/button.tsx";
import { copyText } from "../../parts/copy.tsx";
import { Dialog } from "../../parts/dialog.tsx";

export function SecretOnce({
  secret,
  name,
  onClose,
}: {
  readonly secret: string;
  readonly name: string;
  readonly onClose: () => void;
}) {
  const copy = async () => {
    const done = await copyText(secret);
    say(done ? "Copied the secret" : "This browser did not let the page copy. Select the text instead.", {
      brief: true,
    });
  };
  return (
    <Dialog title={`The secret of ${name}`} onClose={onClose}>
      <p className="quiet">
        Paste it at the provider now. It is shown this once: nobody can read it here again, only replace it.
      </p>
      <pre className="secret">{secret}</pre>
      <div className="button-row is-end">
        <Button onClick={() => void copy()}>Copy the secret</Button>
        <Button look="primary" onClick={onClose}>
          I have stored it
        </Button>
      </div>
    </Dialog>
  );
}
