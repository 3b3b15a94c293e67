/**
 * The signed callback URLs, and the receiver that turns callbacks and webhooks into signals. Nothing that a callback
 * says is believed here or elsewhere: the workflow reads the document.
 *
 * Stands on: `src/contract`, `src/http`.
 */
export { createBoundedServer, type ServerTimeouts } from "./bounded-server.ts";
export { createCallbackReceiver } from "./receiver.ts";
export { countsPerLine, DURATION_BUCKETS } from "./receiver-watch.ts";
export { type CallbackClient, createTemporalSignaller } from "./temporal-signaller.ts";
export { createCallbackToken } from "./callback-token.ts";
export type { WebhookSource } from "./webhooks.ts";
