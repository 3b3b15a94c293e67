import type { CallTarget, SeenSale } from "../../src/contract/index.ts";
import { mainWaits } from "../proxies.ts";

/** A look at a sale as others see it. @param anew what is known now; else answers once that is something else */
export type Look = (anew: boolean) => Promise<SeenSale | null>;

/** Looks by an activity that waits for news, so that it costs no history while nothing changes. */
export function watchSale(target: CallTarget, number: string): Look {
  let lastMark: string | undefined;
  return async (anew) => {
    const request = { ...target, number, unlike: anew ? undefined : lastMark, sinceMs: Date.now() };
    const summary = `Look how the sale ${number} stands: each attempt is one look`;
    const { sale, mark } = await mainWaits.seeSale(summary, request);
    lastMark = mark;
    return sale;
  };
}
