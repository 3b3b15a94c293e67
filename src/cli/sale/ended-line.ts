import type { Ledger } from "../../ledger/index.ts";
import { scopeFlags } from "./command-lines.ts";
import type { Scope } from "./scope.ts";

/**
 * How many sales ended without an outcome and are to be restarted; undefined where none is. They need
 * somebody, and no attention says so.
 */
export async function endedLine({ documents }: Pick<Ledger, "documents">, scope: Scope): Promise<string | undefined> {
  const { connection, business: businessId } = scope;
  const count = await documents.countEnded({ connection, businessId });
  if (count === 0) return undefined;
  const who =
    count === 1
      ? "1 workflow ended without an outcome, and nothing carries it on until it is restarted"
      : `${count} workflows ended without an outcome, and nothing carries them on until they are restarted`;
  return `${who}: ${["fiscalflow sale list --ended", ...scopeFlags(scope)].join(" ")}`;
}
