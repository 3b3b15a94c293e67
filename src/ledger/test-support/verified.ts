import type { Business, Ledger, VerifiedChain } from "../index.ts";

/** What `ledger verify` says of the chain of a business, and of its rows. */
export async function verified(
  ledger: Pick<Ledger, "verify">,
  { connection, businessId = "-" }: Business,
): Promise<VerifiedChain> {
  for await (const chain of ledger.verify({ connection, businessId }))
    if (chain.connection === connection) return chain;
  throw new Error(`there is no chain of ${connection}/${businessId}`);
}
