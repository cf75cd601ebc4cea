// A setting is put, replaced or removed. Repeat: the same value changes nothing.
import { changeSetting, type SettingAnswer, type SettingInput, type SettingRow } from "../settings.ts";
import { lockName } from "./lock-name.ts";
import type { Transaction } from "./transaction.ts";
import { writeAudit } from "./write-audit.ts";

const selectSettingSql = "select value, version from settings where env = ? and kind = ? and name = ?";
const writeSettingSql = `
  insert into settings (env, kind, name, value, version, changed_at) values (?, ?, ?, ?, ?, ?)
  on conflict (env, kind, name) do update
     set value = excluded.value, version = excluded.version, changed_at = excluded.changed_at`;
const deleteSettingSql = "delete from settings where env = ? and kind = ? and name = ?";

export async function changeSettingRow(tx: Transaction, input: SettingInput): Promise<SettingAnswer> {
  const { env, kind, name, value, reason, actor } = input;
  // A row that is not there yet cannot be locked.
  await lockName(tx, `settings:${env}`);
  const existing = await tx.connection.one<SettingRow>(selectSettingSql, env, kind, name);
  const { answer, write } = changeSetting(existing, input);
  if (!write) return answer;
  if (value === null) await tx.connection.run(deleteSettingSql, env, kind, name);
  else await tx.connection.run(writeSettingSql, env, kind, name, value, answer.version, tx.at.now);
  if (reason !== null)
    await writeAudit(tx, env, { action: "change-setting", subject: `${kind}:${name}`, reason, actor });
  return answer;
}
