import type { Client } from "@temporalio/client";

import { type SaleContent, saleContent } from "../contract/sale-content.ts";
import { saleInputSchema } from "../contract/schema/sale.ts";

type Encoded = Parameters<Client["options"]["loadedDataConverter"]["payloadCodecs"][number]["decode"]>[0];

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
  const input = await readPayloads(client, started?.workflowExecutionStartedEventAttributes?.input);
  return { input, startedAtMs: msOf(started?.eventTime) };
}

function msOf(time: { seconds?: { toNumber(): number } | null; nanos?: number | null } | null | undefined): number {
  return (time?.seconds?.toNumber() ?? 0) * 1000 + Math.floor((time?.nanos ?? 0) / 1e6);
}

async function readPayloads(client: Client, input: { payloads?: Encoded | null } | null | undefined) {
  const { payloadConverter, payloadCodecs } = client.options.loadedDataConverter;
  let readable = input?.payloads ?? [];
  for (const codec of payloadCodecs.toReversed()) readable = await codec.decode(readable);
  return readable.map((payload) => payloadConverter.fromPayload<unknown>(payload));
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
