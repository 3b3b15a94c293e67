import { sleep } from "@temporalio/workflow";

import { creditNote as realCreditNote, sale as realSale } from "../../workflows/index.ts";

/** As somebody would change it who forgot the open sales: a timer before everything else. */
export async function sale(...input: Parameters<typeof realSale>): ReturnType<typeof realSale> {
  await sleep(1_000);
  return await realSale(...input);
}

export async function creditNote(...input: Parameters<typeof realCreditNote>): ReturnType<typeof realCreditNote> {
  await sleep(1_000);
  return await realCreditNote(...input);
}
