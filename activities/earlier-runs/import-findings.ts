import type { Ledger } from "../../src/ledger/index.ts";
import { claimedMovement, keySentWith } from "../ledger/beside-calls.ts";
import type { DocumentFinding, Findings, MovementFinding } from "./findings.ts";

/** Writes into the claims what they do not know yet. What they know stays as it is, so this may be repeated. */
export async function importFindings(ledger: Ledger, findings: Findings, holder: string): Promise<void> {
  for (const finding of findings.documents) await importDocument(ledger, finding, holder);
  for (const finding of findings.movements) await importMovement(ledger, finding, holder);
}

/** An execution of a run that is over. */
function overBy(holder: string) {
  return { execution: holder, underWayForMs: 0 };
}

async function importDocument(ledger: Ledger, finding: DocumentFinding, holder: string): Promise<void> {
  const { claim: workflowId, request, firstSentAtMs, outcome } = finding;
  const known = await ledger.documents.read(workflowId);
  if (known?.documentId !== undefined) return;
  const { intent, content } = request;
  if (!known) {
    const call = {
      workflowId,
      intent,
      idempotencyKey: keySentWith(request),
      content,
      request: request.request,
      holder,
      ...overBy(holder),
      repeatableForMs: 0,
      nowMs: firstSentAtMs,
    };
    const begun = await ledger.documents.begin({ ...call, number: request.numberFor });
    // It is in doubt all the same, whosever the number is.
    if (begun.kind === "number-taken") await ledger.documents.begin(call);
  }
  if (outcome.kind === "in-doubt") return;
  const created = { kind: "document", documentId: outcome.documentId } as const;
  await ledger.documents.settle({ workflowId, intent, outcome: created, nowMs: firstSentAtMs });
}

async function importMovement(ledger: Ledger, finding: MovementFinding, holder: string): Promise<void> {
  const { request, sentAtMs, outcome } = finding;
  const { connection, businessId, referenceId, claim } = request;
  const movement = claimedMovement(request);
  const { generation, token } = claim;
  const key = { connection, businessId, referenceId, generation };
  const taken = await ledger.stock.take({ ...key, token, ...overBy(holder), movement, holder, nowMs: sentAtMs });
  const isOpen = taken.kind === "taken" || taken.kind === "unknown" || taken.kind === "under-way";
  if (outcome.kind === "applied" && isOpen) await ledger.stock.settle({ ...key, token, outcome });
  if (outcome.kind === "said") {
    const { applied, word } = outcome;
    await ledger.stock.decide({ ...key, applied, word, movement, holder });
  }
}
