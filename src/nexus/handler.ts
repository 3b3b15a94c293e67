import type { Client } from "@temporalio/client";
import { type TemporalNexusClient, TemporalOperationHandler, TemporalOperationResult } from "@temporalio/nexus";
import { type ServiceHandler, serviceHandler, type StartOperationContext } from "nexus-rpc";
import { z } from "zod";

import { type Config, starterSettings } from "../config/index.ts";
import {
  aboutWorkflow,
  DEFAULT_CONNECTION,
  type FirstOutcomeRequest,
  firstOutcomeWorkflowId,
  requireServed,
  type SaleInput,
  type SaleOutcome,
  WORKFLOW_TYPES,
} from "../contract/index.ts";
import { parseInput } from "../contract/schema/parse-input.ts";
import { businessIdentifier, connectionName, refundRequestSchema } from "../contract/schema/sale.ts";
import { invoiceNumber } from "../contract/schema/fields.ts";
import { createStarter } from "../starter/index.ts";
import { endsWait } from "../starter/outcome.ts";
import { beginRefund, LONGEST_REPLY_SECONDS } from "../starter/refund.ts";
import { requireConnection, saleIdOf, type SaleKey } from "../starter/sale-key.ts";
import { operationError } from "./operation-error.ts";
import { fiscalService, type RefundInput } from "./service.ts";

const refundInputSchema = z.strictObject({
  connection: connectionName.optional(),
  businessId: businessIdentifier.optional(),
  // An adopted sale may have a longer one than we issue.
  invoice: invoiceNumber(1000),
  refund: refundRequestSchema,
}) satisfies z.ZodType<RefundInput>;

/**
 * Serves the operations of {@link fiscalService}. Each has two parts. The first starts the sale or the refund, or finds
 * the one that there is; it is repeated while its answer is lost, which starts nothing twice. The second is a workflow
 * `firstOutcome`, one for each operation of a caller: whoever cancels an operation ends this wait, and no other
 * caller's, and the sale goes on.
 */
export function createFiscalHandler(client: Client, config: Config): ServiceHandler {
  const settings = starterSettings(config);
  const { businesses, connections, servedBusinesses } = settings;
  const starter = createStarter({ client, ...settings });

  return serviceHandler(fiscalService, {
    sale: new TemporalOperationHandler<SaleInput, SaleOutcome>({
      start: (context, nexus, input) =>
        answered(client, context, async () => {
          const { workflowId, fingerprint } = await starter.startSale(input);
          const key = { ...input, invoice: input.traderInvoiceNumber };
          return await waitIn(nexus, context, key, { workflowId, fingerprint });
        }),
    }),
    refund: new TemporalOperationHandler<RefundInput, SaleOutcome>({
      start: (context, nexus, input) =>
        answered(client, context, async () => {
          const { refund, ...named } = parseInput<RefundInput>(refundInputSchema, input, "refund");
          const { connection = DEFAULT_CONNECTION } = named;
          requireConnection(connections, connection);
          const businessId = named.businessId ?? businesses[connection];
          if (businessId !== undefined) requireServed(servedBusinesses[connection] ?? [], businessId, connection);
          const key: SaleKey = { ...named, ...(businessId !== undefined && { businessId }) };
          const outcome = await beginRefund(client, key, refund, { waitSeconds: LONGEST_REPLY_SECONDS });
          // Of a sale that is credited already, Temporal may have no workflow any more.
          if (endsWait(outcome)) return TemporalOperationResult.sync(outcome);
          return await waitIn(nexus, context, key, { workflowId: saleIdOf(key) });
        }),
    }),
  });
}

/** A call that is too late is given up, and repeated by Temporal: what it has begun is found. */
async function answered<T>(client: Client, { abortSignal }: StartOperationContext, work: () => Promise<T>): Promise<T> {
  try {
    return await client.withAbortSignal(abortSignal, work);
  } catch (error) {
    throw operationError(error);
  }
}

/** Temporal repeats a call under its `requestId`: it finds the workflow that it has started. */
function waitIn(
  nexus: TemporalNexusClient,
  { requestId }: StartOperationContext,
  key: SaleKey,
  request: FirstOutcomeRequest,
): Promise<TemporalOperationResult<SaleOutcome>> {
  return nexus.startWorkflow<(asked: FirstOutcomeRequest) => Promise<SaleOutcome>>(WORKFLOW_TYPES.firstOutcome, {
    workflowId: firstOutcomeWorkflowId(request.workflowId, requestId),
    args: [request],
    workflowIdConflictPolicy: "USE_EXISTING",
    workflowIdReusePolicy: "ALLOW_DUPLICATE",
    ...aboutWorkflow(WORKFLOW_TYPES.firstOutcome, key, `of ${key.invoice}`),
  });
}
