// Orders of runs one by one, beside newest first.

export const runOrders = ["longest", "shortest", "started-last", "started-first"] as const;
export type RunOrder = (typeof runOrders)[number];

export const isRunOrder = (order: string): order is RunOrder => (runOrders as readonly string[]).includes(order);
