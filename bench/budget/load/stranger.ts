import { request } from "undici";

import { atRandomMoments } from "./random-moments.ts";

export interface StrangerOptions {
  readonly serviceUrl: string;
  readonly apiKey: string;
  /** The document that it reads again and again. */
  readonly saleId: string;
  readonly businessId: string;
  readonly perSecond: number;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** Another program on the same application. It takes no 429 to heart: what it does not get it does without. */
export async function runStranger(options: StrangerOptions): Promise<void> {
  const { serviceUrl, apiKey, saleId, businessId, perSecond, random, signal } = options;
  const url = `${serviceUrl}/v1/sales/${encodeURIComponent(saleId)}?businessId=${encodeURIComponent(businessId)}`;
  const call = async (): Promise<void> => {
    const { body } = await request(url, { headers: { "x-api-key": apiKey } });
    await body.dump();
  };
  const open = new Set<Promise<unknown>>();
  await atRandomMoments({
    perSecond,
    random,
    signal,
    happen: () => {
      // An answer that is cut off at the end says nothing.
      const one = call().catch(() => undefined);
      open.add(one);
      void one.then(() => open.delete(one));
    },
  });
  await Promise.all(open);
}
