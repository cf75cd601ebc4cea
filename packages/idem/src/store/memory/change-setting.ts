// A setting is put, replaced or removed. Repeat: the same value changes nothing.
import { changeSetting, type SettingAnswer, type SettingInput } from "../settings.ts";
import type { Moment, Tables } from "./tables.ts";

export function changeSettingRow(tables: Tables, at: Moment, input: SettingInput): SettingAnswer {
  const { kind, name, value, reason, actor } = input;
  const id = JSON.stringify([kind, name]);
  const { answer, write } = changeSetting(tables.settings.get(id), input);
  if (!write) return answer;
  if (value === null) tables.settings.delete(id);
  else tables.settings.put(id, { kind, name, value, version: answer.version, changedAt: at.now });
  if (reason !== null) tables.addAudit(at, { action: "change-setting", subject: `${kind}:${name}`, reason, actor });
  return answer;
}
