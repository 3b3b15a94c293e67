import { describe, expect, it } from "vitest";
import { CALLBACK_SECRET, COMPLIANCE, CALLBACKS, load, problemsOf } from "./test-support/load.ts";

describe("base URLs", () => {
  const problem = (url: string) => problemsOf({ ...COMPLIANCE, COMPLIANCE_BASE_URL: url })[0]?.message;

  it.each(["http://localhost:8080", "http://127.0.0.1:8080", "http://[::1]:8080", "https://api.example.com/tax"])(
    "may be %s",
    (url) => {
      expect(load({ ...COMPLIANCE, COMPLIANCE_BASE_URL: url }).compliance[0]?.baseUrl).toBe(url);
    },
  );

  it.each([
    ["http://api.example.com", /expected https.*found http to api\.example\.com/],
    ["http://127.0.0.1.example.com", /expected https/],
    ["ftp://api.example.com", /expected an absolute URL.*found "ftp:/],
    ["https:api.example.com", /expected an absolute URL/],
    ["https://", /expected an absolute URL/],
    ["https://api.example.com/a b", /expected an absolute URL/],
    ["https://user@api.example.com", /a user name, a query or a fragment/],
    ["https://@api.example.com", /a user name, a query or a fragment/],
    ["https://api.example.com?", /a user name, a query or a fragment/],
    ["https://api.example.com/#", /a user name, a query or a fragment/],
    ["https://api.example.com/v1/", /found one that ends in \/v1/],
  ])("may not be %s", (url, message) => {
    expect(problem(url)).toMatch(message);
  });
});

describe("the public URL of callbacks", () => {
  const withUrl = (url: string, more = {}) => ({ ...CALLBACKS, CALLBACK_PUBLIC_URL: url, ...more });

  it("is kept without a slash at its end", () => {
    expect(load(withUrl("https://CB.example.com:443/tax/")).callbacks?.publicUrl).toBe("https://cb.example.com/tax");
  });

  it.each([
    ["http://cb.example.com", /must not travel in the clear/],
    ["https://receiver", /found receiver, which the internet cannot reach/],
    ["https://192.168.1.5", /cannot reach/],
    ["https://localhost:8080", /set CALLBACK_ALLOW_LOOPBACK=1/],
    ["http://127.0.0.1:8080", /set CALLBACK_ALLOW_LOOPBACK=1/],
    ["https://cb.example.com/?a=1", /a query/],
    ["https://u:p@cb.example.com", /a user name/],
    [`https://cb.example.com/${"x".repeat(1_000)}`, /at most 1000 characters/],
  ])("may not be %s", (url, message) => {
    expect(problemsOf(withUrl(url))).toEqual([
      { path: "CALLBACK_PUBLIC_URL", message: expect.stringMatching(message) },
    ]);
  });

  it("may be on loopback, and nowhere else that is private, where that is allowed", () => {
    const allow = { CALLBACK_ALLOW_LOOPBACK: "1" };
    expect(load(withUrl("http://127.0.0.1:8080", allow)).callbacks?.publicUrl).toBe("http://127.0.0.1:8080");
    expect(load(withUrl("http://localhost:8080/", allow)).callbacks?.publicUrl).toBe("http://localhost:8080");
    expect(load(withUrl("https://cb.example.com", allow)).callbacks?.allowLoopback).toBe(true);
    expect(problemsOf(withUrl("http://cb.example.com", allow))).toHaveLength(1);
    expect(problemsOf(withUrl("https://10.0.0.1", allow))).toHaveLength(1);
  });

  it("comes with secrets that are long enough", () => {
    const secrets = (text: string) =>
      problemsOf({ ...CALLBACKS, CALLBACK_SECRETS: text }).map(({ message }) => message);
    expect(secrets(`${CALLBACK_SECRET},,short`)).toEqual([
      expect.stringMatching(/^entry 2: expected at least 32 characters, found 0/),
      expect.stringMatching(/^entry 3: expected at least 32 characters, found 5/),
    ]);
  });
});

describe("the URL of the ledger", () => {
  const problem = (url: string, more = {}) => {
    try {
      load({ LEDGER_URL: url, ...more });
    } catch (error) {
      return (error as Error).message;
    }
    return undefined;
  };

  it.each([
    "postgres://u:p@db.example.com/ledger?sslmode=verify-full",
    "postgresql://u:p@10.0.0.7:6432/ledger?sslrootcert=/etc/ca.pem&sslmode=verify-full",
    "postgres://u:p@localhost/ledger",
    "postgres://u:p@LOCALHOST./ledger",
    "postgres://u:p@127.0.0.2:5433/ledger",
    "postgres://u:p@[::1]/ledger?sslmode=disable",
    "postgres://u:p@db.example.com/ledger?host=/var/run/postgresql",
    "postgres://u:p@%2Fvar%2Frun%2Fpostgresql/ledger",
    "postgres://u:p@db.example.com/ledger?host=::1",
  ])("may be %s", (url) => {
    expect(problem(url)).toBeUndefined();
  });

  it.each([
    ["postgres://u:hidden@db.example.com/ledger", /found none for the host db\.example\.com/],
    ["postgres://u:hidden@10.0.0.7/ledger?sslmode=require", /found "require" for the host 10\.0\.0\.7/],
    ["postgres://u:hidden@db.example.com/ledger?sslmode=verify-ca&sslrootcert=ca.pem", /found "verify-ca"/],
    ["postgres://u:hidden@db.example.com/ledger?ssl=true", /found none/],
    ["postgres://u:hidden@db.example.com/ledger?sslmode=verify-full&sslmode=disable", /found "disable"/],
    ["postgres://u:hidden@localhost/ledger?host=db.example.com", /for the host db\.example\.com/],
    ["postgres://u:hidden@127.0.0.1.example.com/ledger", /for the host 127\.0\.0\.1\.example\.com/],
    ["postgres:///ledger", /a URL that names no host/],
  ])("may not be %s, unless plain text is allowed", (url, found) => {
    expect(problem(url)).toMatch(/LEDGER_URL: expected sslmode=verify-full in the URL/);
    expect(problem(url)).toMatch(found);
    expect(problem(url)).not.toContain("hidden");
    expect(problem(url, { LEDGER_ALLOW_PLAINTEXT: "1" })).toBeUndefined();
  });

  it("is judged the same where the file refers to it", () => {
    const file = (more: object) => ({ ledger: { url: { env: "SHOP_DB" }, ...more } });
    const env = { SHOP_DB: "postgres://u:p@db.example.com/ledger" };
    expect(problemsOf(env, file({}))).toMatchObject([{ path: "ledger.url" }]);
    expect(load(env, file({ allowPlaintext: true })).ledger.url?.reveal()).toBe(env.SHOP_DB);
  });
});
