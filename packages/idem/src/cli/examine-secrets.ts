// Whether the secrets a store keeps (of webhooks and of alert channels) are sealed, and with keys that are known here.
import type { Finding } from "../radar/finding.ts";
import { lookAtSecrets } from "../sdk/sealed-store.ts";
import type { Reading } from "./command.ts";

/** Of one environment, or of all. */
export async function examineSecrets({ reads, place }: Reading, onlyEnv: string | null): Promise<Finding[]> {
  const { clear, missing } = await lookAtSecrets(reads, onlyEnv);
  const findings: Finding[] = [];
  if (clear > 0) {
    const isFile = place.kind === "file";
    findings.push({
      kind: "secrets-in-clear",
      level: isFile ? "note" : "problem",
      title: `${clear} ${clear === 1 ? "setting with secrets is" : "settings with secrets are"} not sealed`,
      details: [
        isFile
          ? "Whoever reads the file or a copy of it has them."
          : "Whoever reads the database or a dump of it has them.",
      ],
      next: "Set IDEM_SECRET_KEY (idem secret make secret-key) where the store is opened, then: idem secret rotate",
      facts: { clear },
    });
  }
  if (missing.length > 0) {
    findings.push({
      kind: "secret-key-missing",
      level: "note",
      title: "Some secrets are sealed with keys this command does not have",
      details: missing.map((id) => `key ${id}`),
      next: "Nothing, where the processes of the store have them in IDEM_SECRET_KEY; else add them there",
      facts: { missing },
    });
  }
  return findings;
}
