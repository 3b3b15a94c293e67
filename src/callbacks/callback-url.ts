import { MAX_WORKFLOW_ID_LENGTH } from "../contract/ids.ts";
import { createCallbackToken } from "./token.ts";

/** "callbackUrl: at most 2048 characters" (Fiscal Compliance API, "Limits"). */
export const MAX_CALLBACK_URL_LENGTH = 2048;

/** The URL that a create request carries: `<publicUrl>/callbacks/<token>`. */
export function callbackUrl(receiver: { publicUrl: string }, token: string): string {
  return `${receiver.publicUrl.replace(/\/+$/, "")}/callbacks/${token}`;
}

/** A URL as long as any that this public URL can lead to; it must not exceed {@link MAX_CALLBACK_URL_LENGTH}. */
export function longestCallbackUrl(publicUrl: string): string {
  const longestId = "x".repeat(MAX_WORKFLOW_ID_LENGTH);
  return callbackUrl({ publicUrl }, createCallbackToken({ workflowId: longestId }, "only the length counts"));
}
