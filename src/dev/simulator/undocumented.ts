/**
 * Every decision the simulator takes where the document "Fiscal Compliance API" is silent, in one place. Nothing here
 * may be read as the service's behaviour: a client that depends on one of these depends on a guess.
 *
 * - POST /v1/sales: shape, answers and idempotency are not shown. It answers like POST /v1/credit-notes (201, 202, 422,
 *   200 replayed).
 * - An unknown item in a sale is 404, like every other id that does not exist. An unknown branch is 400 with the extra
 *   `branches`.
 * - A line of an item that is not REGISTERED makes the authority reject the sale, whatever the script says, when it
 *   would have accepted.
 * - A sale moves no stock: the document lets only stock adjustments move it. On-hand may go below 0, since no refusal
 *   is shown.
 * - 422 on creation leaves a document in status `failed` and puts it into the error as `sale`, unless the script says
 *   otherwise.
 * - 202 leaves `pending` unless the script names another in-flight status; `cancelled` is reached by script only and
 *   sends no callback.
 * - A retry is accepted for `failed` and for in-flight documents and answers 200 with whatever the document is then, in
 *   flight included.
 * - A failed or cancelled credit note does not block a second one; retrying a failed one does answer `already_credited`
 *   if another lives.
 * - An idempotency key belongs to one application and one operation, alone decides (the body is not compared), and
 *   never expires by itself. Where a document was made, the replay answers 200 with the document as it is now; for a
 *   rejection without a document it answers the same 422 again with the replay header; every other refusal (400, 403,
 *   404, 429, other 422) is not kept.
 * - Fields the dialect does not name are refused with 400, so that a client that uses a wrong name is seen
 *   (`refuseUnknownFields`).
 * - taxableAmount is the total without the tax, so that taxableAmount + taxAmount = total.
 * - Every authenticated request takes one from its application's window, those answered 400, 403, 404 and 422 included;
 *   a request answered 429 takes nothing, and one answered 401 belongs to no application.
 * - A purchase list's cursor is a place in the order (invoice date, then id, newest first): a purchase that moves in
 *   front of it, or is stored there, while somebody reads on is not in that reader's later pages. How a cursor behaves
 *   under changes is not shown.
 * - The callback is sent for every outcome, also one that the creating answer already has; a retry that changes the
 *   outcome sends a new one with its attempts counted afresh.
 */
export const codes = {
  saleNotCompleted: "sale_not_completed",
  notCreditable: "not_creditable",
  notRetryable: "not_retryable",
  itemIncomplete: "item_incomplete",
} as const;

/** Page size of the purchases list without the parameter: the sample shows 20, a default is not stated. */
export const defaultPurchasePageSize = 20;

/** Bounds of POST /v1/sales; the document shows 50 for the credit note's number only. */
export const saleLimits = { traderInvoiceNumber: 50, text: 500 } as const;

/** How long one callback attempt may take; the document shows no schedule. */
export const callbackAttemptTimeoutMs = 10_000;

/** Delays before the second, third and fourth callback attempt. */
export const defaultCallbackRetryDelaysMs: readonly number[] = [1000, 5000, 30_000];
