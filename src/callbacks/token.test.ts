import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { saleWorkflowId } from "../contract/ids.ts";
import { callbackUrl, createCallbackToken, MAX_TOKEN_LENGTH, verifyCallbackToken } from "./callback-token.ts";

const SECRET = "a-secret-of-this-year-of-at-least-32";
const OLDER = "a-secret-of-last-year-of-at-least-32";
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~%=+/ \u0000é";

const workflowId = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 200 })
  .filter((text) => Buffer.byteLength(text) <= 200);

describe("a callback token", () => {
  it("names the workflow id that it was made for, whatever is in it", () => {
    fc.assert(
      fc.property(workflowId, (id) => {
        const token = createCallbackToken({ workflowId: id }, SECRET);
        expect(verifyCallbackToken(token, [SECRET])).toBe(id);
        expect(token).toMatch(/^[A-Za-z0-9_.-]+$/);
        expect(token.length).toBeLessThanOrEqual(MAX_TOKEN_LENGTH);
      }),
    );
  });

  it("is the same each time it is made, so that a repeated create request stays equal to the byte", () => {
    fc.assert(
      fc.property(workflowId, (id) => {
        expect(createCallbackToken({ workflowId: id }, SECRET)).toBe(createCallbackToken({ workflowId: id }, SECRET));
      }),
    );
  });

  it("fits the workflow ids of the contract, the longest too", () => {
    const long = "é".repeat(300);
    for (const id of [
      saleWorkflowId({ connection: "shop", businessId: "biz_1", traderInvoiceNumber: "INV/2026 №1" }),
      saleWorkflowId({ connection: "shop", businessId: long, traderInvoiceNumber: long }),
    ]) {
      expect(verifyCallbackToken(createCallbackToken({ workflowId: id }, SECRET), [SECRET])).toBe(id);
    }
  });

  it("is refused when any one character is another, missing or added", () => {
    fc.assert(
      fc.property(workflowId, fc.nat(), fc.constantFrom(...ALPHABET.split("")), (id, position, character) => {
        const token = createCallbackToken({ workflowId: id }, SECRET);
        const at = position % token.length;
        const [before, after] = [token.slice(0, at), token.slice(at + 1)];
        for (const varied of [before + character + after, before + after, before + character + token.slice(at)]) {
          expect(verifyCallbackToken(varied, [SECRET])).toBe(varied === token ? id : undefined);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("is refused in every other spelling that decodes to the same bytes", () => {
    // One byte leaves four spare bits in its second character: 16 spellings of one id.
    const token = createCallbackToken({ workflowId: "a" }, SECRET);
    const [version, , mac] = token.split(".");
    const accepted = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
      .split("")
      .map((spare) => `${version}.Y${spare}.${mac}`)
      .filter((varied) => verifyCallbackToken(varied, [SECRET]) !== undefined);
    expect(accepted).toEqual([token]);
  });

  it("is refused where its signature is used with another workflow's id", () => {
    fc.assert(
      fc.property(workflowId, workflowId, (id, other) => {
        fc.pre(id !== other);
        const [version, , mac] = createCallbackToken({ workflowId: id }, SECRET).split(".");
        const forged = `${version}.${Buffer.from(other).toString("base64url")}.${mac}`;
        expect(verifyCallbackToken(forged, [SECRET])).toBeUndefined();
      }),
    );
  });

  it("verifies under any secret that is still honoured, and under no other", () => {
    fc.assert(
      fc.property(workflowId, (id) => {
        const token = createCallbackToken({ workflowId: id }, OLDER);
        expect(verifyCallbackToken(token, [SECRET, OLDER])).toBe(id);
        expect(verifyCallbackToken(token, [OLDER, SECRET])).toBe(id);
        expect(verifyCallbackToken(token, [SECRET])).toBeUndefined();
        expect(verifyCallbackToken(token, [])).toBeUndefined();
      }),
    );
  });

  it("is refused for any text that was not made with the secret, however long", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (text) => {
        expect(verifyCallbackToken(text, [SECRET])).toBeUndefined();
      }),
    );
    expect(verifyCallbackToken("c1.".padEnd(10_000_000, "a"), [SECRET])).toBeUndefined();
  });

  it("cannot be created for an id that is too long, nor without a secret", () => {
    expect(() => createCallbackToken({ workflowId: "" }, SECRET)).toThrow(/1 to 200 bytes; this one has 0/);
    expect(() => createCallbackToken({ workflowId: "x".repeat(201) }, SECRET)).toThrow(/this one has 201/);
    expect(() => createCallbackToken({ workflowId: "sale/\ud800" }, SECRET)).toThrow(/lone surrogate/);
    expect(() => createCallbackToken({ workflowId: "sale" }, "")).toThrow(/this one is empty/);
  });
});

describe("a callback URL", () => {
  it("joins the public URL and the token, with or without a slash between them", () => {
    expect(callbackUrl({ publicUrl: "https://a.example/tax" }, "c1.a.b")).toBe(
      "https://a.example/tax/callbacks/c1.a.b",
    );
    expect(callbackUrl({ publicUrl: "https://a.example/" }, "c1.a.b")).toBe("https://a.example/callbacks/c1.a.b");
  });

  it("is within the API's 2048 characters behind the longest public URL that the configuration takes", () => {
    const publicUrl = "https://callbacks.example.com/".padEnd(1_000, "x");
    fc.assert(
      fc.property(workflowId, (id) => {
        const url = callbackUrl({ publicUrl }, createCallbackToken({ workflowId: id }, SECRET));
        expect(url.length).toBeLessThanOrEqual(2_048);
      }),
    );
  });
});
