import {
  CancellationScope,
  createNexusServiceClient,
  defineSignal,
  type NexusOperationCancellationType,
  setHandler,
} from "@temporalio/workflow";

import { fiscalService, type RefundInput } from "../../src/nexus/service.ts";
import type { SaleInput, SaleOutcome } from "../../src/contract/index.ts";

export interface Asked {
  endpoint: string;
  sale?: SaleInput;
  refund?: RefundInput;
  cancellationType?: NexusOperationCancellationType;
}

export const giveUp = defineSignal("giveUp");

/** A workflow of another service: it knows the service's definition, and an endpoint's name. */
export async function caller({ endpoint, sale, refund, ...more }: Asked): Promise<SaleOutcome> {
  const client = createNexusServiceClient({ endpoint, service: fiscalService });
  const options = { scheduleToCloseTimeout: "2 minutes" as const, ...more };
  const scope = new CancellationScope();
  setHandler(giveUp, () => scope.cancel());
  return await scope.run(async () => {
    if (sale) return await client.executeOperation("sale", sale, options);
    if (refund) return await client.executeOperation("refund", refund, options);
    throw new Error("asked for nothing");
  });
}
