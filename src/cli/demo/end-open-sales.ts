import type { Client } from "@temporalio/client";
import { SEARCH_ATTRIBUTES } from "../../contract/index.ts";

/**
 * On a server that outlives the demo: what the demo left open would go on in the hands of the next worker there, which is connected
 * to another service.
 */
export async function endOpenSales(client: Client, businessId: string): Promise<void> {
  const query = `${SEARCH_ATTRIBUTES.business} = ${JSON.stringify(businessId)} AND ExecutionStatus = "Running"`;
  for await (const { workflowId } of client.workflow.list({ query })) {
    await client.workflow
      .getHandle(workflowId)
      .terminate("The fiscalflow demo that it belongs to has ended.")
      // It may have ended by itself meanwhile.
      .catch(() => undefined);
  }
}
