import type { Client } from "@temporalio/client";

import { type SaleContent, saleContent } from "../contract/fingerprint.ts";
import { saleInputSchema } from "../contract/schema/sale-input.ts";

/** What a run was started with: every run has it, whoever started it, and in whatever language. One call. */
export async function inputOfRun(client: Client, run: { workflowId: string; runId: string }): Promise<unknown[]> {
  return (await startOfRun(client, run)).input;
}

/** The same, and when it was (Unix milliseconds). */
export async function startOfRun(
  client: Client,
  { workflowId, runId }: { workflowId: string; runId: string },
): Promise<{ input: unknown[]; startedAtMs: number }> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const [started] = history?.events ?? [];
  const payloads = started?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const { payloadConverter, payloadCodecs } = client.options.loadedDataConverter;
  let readable = payloads;
  for (const codec of payloadCodecs.toReversed()) readable = await codec.decode(readable);
  const input = readable.map((payload) => payloadConverter.fromPayload<unknown>(payload));
  const { seconds, nanos } = started?.eventTime ?? {};
  return { input, startedAtMs: Number(seconds ?? 0) * 1000 + Math.floor((nanos ?? 0) / 1e6) };
}

/**
 * The content of a sale's input, whoever wrote it; undefined for what is no sale: its run fails for that.
 * @param businessId of an input that names none
 */
export function contentOfInput(input: unknown, businessId?: string): SaleContent | undefined {
  const parsed = saleInputSchema.safeParse(input);
  if (!parsed.success) return undefined;
  return saleContent(parsed.data, parsed.data.businessId ?? businessId);
}
