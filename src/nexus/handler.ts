/**
 * The Nexus service `fiscal`: its definition (`service.ts`), which callers import, and its handlers. Sales are started
 * by `src/starter/`, as for any other caller, and the wait for an outcome is the workflow `firstOutcome`, whose
 * activity gets from here how to look at a sale.
 *
 * Stands on: `activities/main` (types), `src/config`, `src/contract`, `src/contract/schema`, `src/starter`.
 */
import { ApplicationFailure, type Client } from "@temporalio/client";
import { type TemporalNexusClient, TemporalOperationHandler, TemporalOperationResult } from "@temporalio/nexus";
import { HandlerError, type ServiceHandler, serviceHandler, type StartOperationContext } from "nexus-rpc";
import { z } from "zod";
import { type Config, starterSettings } from "../config/index.ts";
import {
  aboutWorkflow,
  DEFAULT_CONNECTION,
  endedInWords,
  type ErrorCode,
  FiscalflowError,
  type FirstOutcomeRequest,
  firstOutcomeWorkflowId,
  requireServed,
  type SaleInput,
  type SaleOutcome,
  WORKFLOW_TYPES,
} from "../contract/index.ts";
import { printableText, parseInput } from "../contract/schema/parse-input.ts";
import { businessIdentifier, connectionName, refundRequestSchema } from "../contract/schema/sale.ts";
import { createStarter } from "../starter/index.ts";
import { endsWait, waitForOutcome } from "../starter/outcome.ts";
import { beginRefund } from "../starter/refund.ts";
import { requireConnection, saleIdOf, type SaleKey } from "../starter/sale-key.ts";
import { fiscalService, type RefundInput } from "./service.ts";
import type { LookAtOutcome } from "../../activities/main/index.ts";
import { SaleFailedError } from "../starter/errors.ts";

/** Temporal gives the start of an operation ten seconds. What takes longer is waited for by a workflow. */
const START_WAIT_SECONDS = 3;

const refundInputSchema = z.strictObject({
  connection: connectionName.optional(),
  businessId: businessIdentifier.optional(),
  // An adopted sale may have a longer one than we issue.
  invoice: printableText(1000),
  refund: refundRequestSchema,
}) satisfies z.ZodType<RefundInput>;

/**
 * Serves the operations of {@link fiscalService}. Each has two parts. The first starts the sale or the refund, or finds
 * the one that there is; it is repeated while its answer is lost, which starts nothing twice. The second is a workflow
 * `firstOutcome`, one for each operation of a caller: a caller who cancels an operation ends this wait, and no other
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
          const outcome = await beginRefund(client, key, refund, { waitSeconds: START_WAIT_SECONDS });
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

/** Codes of errors that the same call would meet again, however often it is repeated. */
const FINAL: ReadonlySet<ErrorCode> = new Set([
  "InvalidInput",
  "UnknownConnection",
  "UnknownBusiness",
  "Conflict",
  "NotFound",
  "NotAllowed",
  "Failed",
]);

export function isFinalError(error: unknown): error is FiscalflowError {
  return error instanceof FiscalflowError && FINAL.has(error.code);
}

/**
 * An error of the starter as Nexus has it. The cause is an application failure whose type is the error's code, as a
 * workflow would answer with. Never of type `CONFLICT`, which Temporal 1.29 takes for an internal error: it repeats
 * the call until the operation's time is up, and holds back other calls of the endpoint meanwhile.
 */
export function operationError(error: unknown): unknown {
  if (error instanceof HandlerError) return error;
  if (isFinalError(error)) {
    const cause = ApplicationFailure.create({ message: error.message, type: error.code, nonRetryable: true });
    return new HandlerError(
      error.code === "NotFound" ? "NOT_FOUND" : "BAD_REQUEST",
      `${error.code}: ${error.message}`,
      {
        cause,
        retryableOverride: false,
      },
    );
  }
  const message = error instanceof Error ? error.message : String(error);
  return new HandlerError("UNAVAILABLE", message, { cause: error, retryableOverride: true });
}

/**
 * How the activity `awaitFirstOutcome` looks at a workflow.
 * @throws a non-retryable failure, of the error's code, where no later look can find an outcome
 */
export function createLookAtOutcome(client: Client): LookAtOutcome {
  return async ({ workflowId, fingerprint }, waitMs) => {
    try {
      const wait = { workflowId, waitMs, ...(fingerprint !== undefined && { fingerprint }) };
      const outcome = await waitForOutcome(client, wait);
      // An operation must not end well whose sale nothing carries on.
      if (outcome.closed)
        throw new SaleFailedError(
          `The workflow ${workflowId} ${endedInWords(outcome.closed)}; nobody carries it on until it is restarted.`,
        );
      return { outcome, endsWait: endsWait(outcome) };
    } catch (error) {
      if (!isFinalError(error)) throw error;
      throw ApplicationFailure.create({ message: error.message, type: error.code, nonRetryable: true, cause: error });
    }
  };
}
