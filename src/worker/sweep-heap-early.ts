import { setFlagsFromString } from "node:v8";

/**
 * Lets V8 sweep once the heap is half as large again as what was in use after the last sweep, not four times as large:
 * what a page of a synchronisation, or a refused request, leaves behind is freed by a full sweep alone.
 *
 * Worker, 20,000 purchases: 65 MB more than at the start instead of 163, for one sweep of 20 ms in five seconds.
 * Callback receiver, 30,000 hostile requests: 38 MB more instead of 59, and no growth from then on.
 */
export function sweepHeapEarly(): void {
  setFlagsFromString("--heap-growing-percent=50");
}
