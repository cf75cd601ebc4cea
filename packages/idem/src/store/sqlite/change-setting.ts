// A setting is put, replaced or removed. Repeat: the same value changes nothing.
import { changeSetting, type SettingAnswer, type SettingInput, type SettingRow } from "../settings.ts";
import type { Transaction } from "./transaction.ts";
import { writeAudit } from "./write-audit.ts";

const selectSettingSql = "select value, version from settings where env = ? and kind = ? and name = ?";
const writeSettingSql = `
  insert into settings (env, kind, name, value, version, changed_at) values (?, ?, ?, ?, ?, ?)
  on conflict (env, kind, name) do update
     set value = excluded.value, version = excluded.version, changed_at = excluded.changed_at`;
const deleteSettingSql = "delete from settings where env = ? and kind = ? and name = ?";

export function changeSettingRow(tx: Transaction, input: SettingInput): SettingAnswer {
  const { env, kind, name, value, reason, actor } = input;
  const { answer, write } = changeSetting(tx.connection.one<SettingRow>(selectSettingSql, env, kind, name), input);
  if (!write) return answer;
  // Settings may hold secrets: what is written over does not stay in the page.
  tx.connection.db.pragma("secure_delete = ON");
  try {
    if (value === null) tx.connection.run(deleteSettingSql, env, kind, name);
    else tx.connection.run(writeSettingSql, env, kind, name, value, answer.version, tx.at.now);
  } finally {
    tx.connection.db.pragma("secure_delete = OFF");
  }
  if (reason !== null) writeAudit(tx, env, { action: "change-setting", subject: `${kind}:${name}`, reason, actor });
  return answer;
}
