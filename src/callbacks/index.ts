/** Signed capability URLs for result callbacks, and the receiver of what is sent to them. */
export { callbackUrl, longestCallbackUrl, MAX_CALLBACK_URL_LENGTH } from "./callback-url.ts";
export { createCallbackReceiver } from "./receiver.ts";
export type { CallbackClient, CallbackLog, ReceiverOptions, ReceiverTimeouts, SignalOutcome } from "./receiver.ts";
export { createTemporalSignaller } from "./temporal-signaller.ts";
export type { SignallerOptions } from "./temporal-signaller.ts";
export { createCallbackToken, verifyCallbackToken } from "./token.ts";
