import { createHmac, timingSafeEqual } from "node:crypto";

import { MAX_WORKFLOW_ID_LENGTH } from "../contract/ids.ts";

/**
 * The capability in a callback URL: `c1.<workflow id, base64url>.<mac, base64url>`. The mac is HMAC-SHA256 under a
 * callback secret, cut to 192 bits. A token does not expire, since a sale may wait for weeks, and carries no
 * randomness: a create request that is repeated under its Idempotency-Key must be the same to the byte.
 */
const VERSION = "c1";
/** Keeps these macs apart from any other use of the same secret. */
const DOMAIN = "fiscalflow/callback-token/c1\0";
/** 24 bytes fill 32 base64url characters exactly, so the mac has no spare bits that could vary. */
const MAC_BYTES = 24;
const MAC_LENGTH = 32;
const TOKEN_PATTERN = new RegExp(`^${VERSION}\\.([A-Za-z0-9_-]+)\\.[A-Za-z0-9_-]{${MAC_LENGTH}}$`);

/** Characters of the longest token that {@link createCallbackToken} makes. */
export const MAX_TOKEN_LENGTH = `${VERSION}..`.length + Math.ceil((MAX_WORKFLOW_ID_LENGTH * 4) / 3) + MAC_LENGTH;

/**
 * The token that names a workflow; the same each time it is made.
 * @param target `workflowId`: 1 to 200 bytes of UTF-8 (the product's own ids are ASCII)
 * @param secret the first of the configured callback secrets
 * @throws RangeError when the id is empty, too long or no well-formed text, or when the secret is empty
 */
export function createCallbackToken(target: { workflowId: string }, secret: string): string {
  const id = Buffer.from(target.workflowId, "utf8");
  if (id.length === 0 || id.length > MAX_WORKFLOW_ID_LENGTH) {
    throw new RangeError(
      `A callback token names a workflow id of 1 to ${MAX_WORKFLOW_ID_LENGTH} bytes; this one has ${id.length}. Make ids with the functions of the contract.`,
    );
  }
  if (id.toString("utf8") !== target.workflowId) {
    throw new RangeError("A callback token names a workflow id of well-formed Unicode; this one has a lone surrogate.");
  }
  if (secret === "") throw new RangeError("A callback token is signed with a secret; this one is empty.");
  return tokenFor(id, secret);
}

/**
 * The workflow id that a token names, or undefined for anything that {@link createCallbackToken} would not have made
 * to the letter under one of the secrets. Takes the same time for every wrong token of one length.
 * @param secrets all that are still honoured: the one that signs today and those it replaced
 */
export function verifyCallbackToken(token: string, secrets: Iterable<string>): string | undefined {
  if (token.length > MAX_TOKEN_LENGTH) return undefined;
  const encodedId = TOKEN_PATTERN.exec(token)?.[1];
  if (encodedId === undefined) return undefined;
  const id = Buffer.from(encodedId, "base64url");
  const given = Buffer.from(token, "latin1");
  let verified = false;
  for (const secret of secrets) {
    // The whole token is made again and compared, so an id written in another, equally decodable way does not pass.
    const expected = Buffer.from(tokenFor(id, secret), "latin1");
    if (expected.length === given.length && timingSafeEqual(expected, given)) verified = true;
  }
  return verified ? id.toString("utf8") : undefined;
}

function tokenFor(id: Buffer, secret: string): string {
  const mac = createHmac("sha256", secret).update(DOMAIN).update(id).digest().subarray(0, MAC_BYTES);
  return `${VERSION}.${id.toString("base64url")}.${mac.toString("base64url")}`;
}

/** The URL that a create request carries: `<publicUrl>/callbacks/<token>`. */
export function callbackUrl(receiver: { publicUrl: string }, token: string): string {
  return `${receiver.publicUrl.replace(/\/+$/, "")}/callbacks/${token}`;
}
