// The secret of a source, for the provider's own page.
import { SecretOnce } from "../../parts/secret-once.tsx";

export const SourceSecret = (shown: {
  readonly secret: string;
  readonly name: string;
  readonly onClose: () => void;
}) => (
  <SecretOnce {...shown}>
    Paste it at the provider now. It is shown this once: nobody can read it here again, only replace it.
  </SecretOnce>
);
