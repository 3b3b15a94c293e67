import { request } from "undici";

import type { Job } from "../workflows.ts";

export interface Reading {
  readonly status: number;
  readonly retryAfterMs: number;
}

/** The one call of a job, with nothing around it. */
export async function readDocument(serviceUrl: string, apiKey: string, job: Job): Promise<Reading> {
  const { saleId, businessId } = job;
  const url = `${serviceUrl}/v1/sales/${encodeURIComponent(saleId)}?businessId=${encodeURIComponent(businessId)}`;
  const { statusCode, headers, body } = await request(url, { headers: { "x-api-key": apiKey } });
  await body.dump();
  return { status: statusCode, retryAfterMs: Number(headers["retry-after"] ?? 1) * 1_000 };
}
