/** Signed capability URLs for result callbacks, and the receiver of what is sent to them. */
export { callbackUrl } from "./callback-token.ts";
export { createCallbackReceiver } from "./receiver.ts";
export { DURATION_BUCKETS } from "./receiver-watch.ts";
export { createTemporalSignaller } from "./temporal-signaller.ts";
export { createCallbackToken } from "./callback-token.ts";
export type { WebhookSource } from "./webhooks.ts";
