// The articles' database: the columns their code writes, and those a database fills in by itself.
import { EmailLog } from "./email-log.ts";
import { Table } from "./table.ts";

export interface Subscription {
  id: string;
  userId: string;
  plan: string;
  status: "active" | "cancelled";
  stripeCustomerId: string;
  upgradedAt?: string;
  cancelledAt?: string;
  cancellationReason?: string;
}

interface User {
  id: string;
  email: string;
  plan?: string;
  createdAt?: string;
  updatedAt?: string;
}

interface Payment {
  userId: string;
  chargeId: string;
  amount: number;
}

interface SentNotification {
  type: string;
  contractId: string;
  sentAt: string;
  messageId: string;
}

interface Task {
  type: string;
  userId: string;
  subscriptionId: string;
  dueAt: string;
  status: string;
  createdAt: string;
}

interface Invoice {
  stripeInvoiceId: string;
  placementId: number;
  status: string;
  createdAt: number;
}

export function openDb(now: () => number) {
  let subscriptionCount = 0;
  return {
    subscriptions: new Table<Subscription, "id" | "stripeCustomerId">({
      defaults: () => ({ id: `sub_${++subscriptionCount}`, stripeCustomerId: `cus_${subscriptionCount}` }),
    }),
    users: new Table<User>(),
    payments: new Table<Payment>(),
    sentNotifications: new Table<SentNotification>(),
    emailLog: new EmailLog(),
    tasks: new Table<Task>(),
    invoices: new Table<Invoice, "createdAt">({ defaults: () => ({ createdAt: now() }) }),
  };
}
