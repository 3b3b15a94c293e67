import { parseAccountingDialect } from "../accounting/index.ts";
import type { WebhookSource } from "../callbacks/index.ts";
import type { AccountingConnection } from "../config/index.ts";

/**
 * The accounting connections whose webhooks are received: those whose dialect says how they look, and that have a
 * secret.
 */
export function webhookSources(connections: readonly AccountingConnection[]): Map<string, WebhookSource> {
  return new Map(
    connections.flatMap(({ name, webhookSecrets, dialect }): [string, WebhookSource][] => {
      const { enabled, ...shape } = parseAccountingDialect(dialect ?? {}).webhook;
      if (!enabled || webhookSecrets.length === 0) return [];
      return [[name, { secrets: webhookSecrets.map((secret) => secret.reveal()), shape }]];
    }),
  );
}
