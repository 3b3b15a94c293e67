import { creditNotesTwice, documentsTwice, keysWithTwoBodies, resultsThatDiffer } from "./documents.ts";
import type { Evidence } from "./evidence.ts";
import { documentsKeptWrongly, ledgerFindings, movementsKeptWrongly } from "./ledger.ts";
import {
  movementsThatDiffer,
  movementsMisreported,
  movementsTwice,
  returnedMoreThanTaken,
  unknownMovementsUnseen,
} from "./movements.ts";
import { callersMisinformed } from "./caller-outcomes.ts";
import {
  attentionsBy429,
  attentionsUnexplained,
  forgedCallbacksHeard,
  historiesThatDoNotReplay,
  salesLost,
  secretsFound,
  taskFailures,
  workflowsThatFailed,
  workflowsTooMany,
} from "./workflows.ts";

/**
 * What must hold whatever was killed, repeated or reordered. Each finds what speaks against it; nothing found means
 * that it holds.
 */
export const INVARIANTS: Readonly<Record<string, (evidence: Evidence) => string[]>> = {
  "no document exists twice": documentsTwice,
  "no sale has a second credit note": creditNotesTwice,
  "no idempotency key was used with two bodies": keysWithTwoBodies,
  "no stock movement was applied twice": movementsTwice,
  "every sale moved its stock, and gave back what it had to": movementsThatDiffer,
  "no more went back to stock than was taken, for each sale, item and branch": returnedMoreThanTaken,
  "what workflows say of their movements is so": movementsMisreported,
  "every unknown movement was visible, and was resolved by an operator": unknownMovementsUnseen,
  "no sale is lost": salesLost,
  "no workflow failed, was terminated, or is stuck": workflowsThatFailed,
  "every sale has one workflow": workflowsTooMany,
  "every result agrees with the books": resultsThatDiffer,
  "what a caller was told stays so": callersMisinformed,
  "every document of the books is in the ledger as it is": documentsKeptWrongly,
  "every movement that was applied is in the ledger": movementsKeptWrongly,
  "the ledger's events and rows are as they were written": ledgerFindings,
  "no workflow task failed, but for Temporal's own races": taskFailures,
  "every history replays": historiesThatDoNotReplay,
  "nobody is called for a 429": attentionsBy429,
  "nobody is called for what did not happen": attentionsUnexplained,
  "a forged callback changes nothing": forgedCallbacksHeard,
  "no secret is in any history, memo, error, log or metric": secretsFound,
};
