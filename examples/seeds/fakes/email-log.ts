// Which e-mails went out. `sentAfter` asks only for those sent since then.
import { Table } from "./table.ts";

interface SentEmail {
  userId: string;
  template: string;
  messageId: string;
  sentAt: string;
  subscriptionId?: string;
}

export class EmailLog extends Table<SentEmail> {
  override async findOne({ sentAfter, ...where }: Partial<SentEmail> & { sentAfter?: string }) {
    if (sentAfter === undefined) return super.findOne(where);
    const since = new Table<SentEmail>();
    since.rows.push(...this.rows.filter((row) => row.sentAt > sentAfter));
    return since.findOne(where);
  }
}
