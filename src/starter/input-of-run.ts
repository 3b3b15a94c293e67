import type { Client } from "@temporalio/client";

import { type SaleContent, saleContent } from "../contract/fingerprint.ts";
import type { SaleInput } from "../contract/sale.ts";
import { saleInputSchema } from "../contract/schema/sale-input.ts";

/** What a run was started with: every run has it, whoever started it, and in whatever language. One call. */
export async function inputOfRun(
  client: Client,
  { workflowId, runId }: { workflowId: string; runId: string },
): Promise<unknown[]> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const payloads = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const { payloadConverter, payloadCodecs } = client.options.loadedDataConverter;
  let readable = payloads;
  for (const codec of payloadCodecs.toReversed()) readable = await codec.decode(readable);
  return readable.map((payload) => payloadConverter.fromPayload(payload));
}

/**
 * The content of a sale's input, whoever wrote it; undefined for what is no sale: its run fails for that.
 * @param businessId of an input that names none
 */
export function contentOfInput(input: unknown, businessId?: string): SaleContent | undefined {
  const parsed = saleInputSchema.safeParse(input);
  if (!parsed.success) return undefined;
  const sale = parsed.data as SaleInput;
  return saleContent(sale, sale.businessId ?? businessId);
}
