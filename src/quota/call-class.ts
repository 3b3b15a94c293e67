import { AsyncLocalStorage } from "node:async_hooks";

/** Architecture, decision 3: sales and credit notes before registration batches, polls and syncs. */
export type CallClass = "interactive" | "background";

const current = new AsyncLocalStorage<CallClass>();

/** Whatever `work` sends is of that class. */
export function callingAs<Result>(callClass: CallClass, work: () => Result): Result {
  return current.run(callClass, work);
}

/** The default: a caller waits for the call. */
export function currentClass(): CallClass {
  return current.getStore() ?? "interactive";
}
