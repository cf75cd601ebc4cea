// Who may come in. Revoking what is already revoked changes nothing.

export class PermissionsService {
  readonly granted: Set<string>;
  readonly keys: string[] = [];

  constructor(granted: readonly string[]) {
    this.granted = new Set(granted);
  }

  async revoke({ userId, idempotencyKey }: { userId: string; idempotencyKey: string }): Promise<void> {
    this.keys.push(idempotencyKey);
    this.granted.delete(userId);
  }
}
