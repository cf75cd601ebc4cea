// An e-mail provider without idempotency keys: every call is one more e-mail in somebody's inbox.

interface Email {
  readonly template: string;
  readonly messageId: string;
  readonly data: object;
}

export class EmailService {
  readonly sent: Email[] = [];
  private failure: Error | null = null;

  /** The next call throws and sends nothing. */
  failNext(message: string): void {
    this.failure = new Error(message);
  }

  async send({ template, ...rest }: { to: string; template: string; data: object }): Promise<{ messageId: string }> {
    return this.deliver(template, rest);
  }

  async sendOrderConfirmation(data: { to: string; cartId: string }): Promise<{ messageId: string }> {
    return this.deliver("order-confirmation", data);
  }

  async sendUpgradeConfirmation(data: { userId: string; newPlan: string }): Promise<{ messageId: string }> {
    return this.deliver("upgrade-confirmation", data);
  }

  async sendCancellationConfirmation(data: { to: string; subscriptionId: string }): Promise<{ messageId: string }> {
    return this.deliver("cancellation-confirmation", data);
  }

  private deliver(template: string, data: object): { messageId: string } {
    const { failure } = this;
    this.failure = null;
    if (failure !== null) throw failure;
    const messageId = `msg_${this.sent.length + 1}`;
    this.sent.push({ template, messageId, data });
    return { messageId };
  }
}
