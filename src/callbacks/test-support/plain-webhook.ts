import type { WebhookShape } from "../webhooks.ts";

/** A signature of the body alone, in hex, and nothing else. */
export const PLAIN_WEBHOOK: WebhookShape = {
  signatureHeader: "X-Signature",
  signaturePrefix: "",
  timestampHeader: null,
  timestampUnit: "ms",
  signed: "body",
  encoding: "hex",
  eventId: null,
};
