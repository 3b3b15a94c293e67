import { getExternalWorkflowHandle } from "@temporalio/workflow";

import type { AttentionCode } from "../../src/contract/index.ts";
import { creditNoteChanged } from "../run/message-definitions.ts";
import type { Run } from "../run/run.ts";

/**
 * Tells the sale whenever this credit note begins or ceases to need a person, so that whoever waits for the sale's outcome hears of
 * it. The sale may have closed meanwhile: that does no harm.
 */
export function tellSale(run: Run, saleWorkflowId: string): void {
  let told: AttentionCode | undefined;
  run.onPublish = () => {
    const attention = run.attentions[0]?.code;
    if (attention === told) return;
    told = attention;
    const change = { ...(attention && { attention }) };
    getExternalWorkflowHandle(saleWorkflowId)
      .signal(creditNoteChanged, change)
      .catch(() => undefined);
  };
}
