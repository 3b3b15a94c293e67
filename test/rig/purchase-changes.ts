import type { Simulator } from "../../src/dev/simulator/index.ts";
import { seededRandom } from "../../src/dev/simulator/seeded-random.ts";
import { dayOf, purchaseOf } from "./purchases.ts";

const STATUSES = ["pulled", "pending_review", "confirmed", "rejected"] as const;

/**
 * Adds, changes, moves and removes purchases of a simulator that has `count` of them, a few after each page that
 * somebody reads, until it is told to stop.
 * @returns the function that stops it, and tells how many there were
 */
export function changeWhileRead(simulator: Simulator, count: number, seed: number): () => number {
  const random = seededRandom(seed);
  const pick = (below: number): number => Math.floor(random() * below);
  let stopped = false;
  let changes = 0;
  let added = 0;
  const removed = new Set<number>();
  const changeOne = (): void => {
    const n = pick(count);
    const { id } = purchaseOf(n);
    const what = removed.has(n) ? 0 : pick(5);
    changes += 1;
    switch (what) {
      case 1:
        return simulator.updatePurchase(id, { status: STATUSES[pick(4)] ?? "confirmed" });
      case 2:
        return simulator.updatePurchase(id, { confirmationError: random() < 0.5 ? null : `error ${pick(10)}` });
      case 3:
        // Another date is another place in the list: in front of its reader, or behind.
        return simulator.updatePurchase(id, { invoiceDate: dayOf(pick(count)) });
      case 4:
        removed.add(n);
        return simulator.removePurchase(id);
      default: {
        const [status, stored] = [STATUSES[pick(4)] ?? "pulled", random() < 0.5];
        const more = { id: `pur_added_${added++}`, status, stored, invoiceDate: dayOf(pick(count)) };
        return simulator.addPurchase(purchaseOf(count + added, more));
      }
    }
  };
  void (async () => {
    for (;;) {
      const seen = pagesOf(simulator);
      await simulator.until(() => stopped || pagesOf(simulator) > seen);
      if (stopped) return;
      for (let n = pick(4); n > 0; n--) changeOne();
    }
  })();
  return () => {
    stopped = true;
    return changes;
  };
}

/** Pages of purchases that were asked for. */
export function pagesOf(simulator: Simulator): number {
  return simulator.callCount("listPurchases");
}
