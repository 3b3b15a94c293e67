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
    ["https://user@api.example.com", /user name or password/],
    ["https://@api.example.com", /user name or password/],
    ["https://api.example.com?", /a query/],
    ["https://api.example.com/#", /a fragment/],
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
    ["https://cb.example.com/#a", /a fragment/],
    ["https://u:p@cb.example.com", /user name or password/],
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

  it("leaves room for the longest token within the API's 2048 characters", () => {
    const host = "https://cb.example.com/";
    const problem = problemsOf(withUrl(host + "x".repeat(2_000)))[0]?.message ?? "";
    const most = Number(/at most (\d+) characters/.exec(problem)?.[1]);
    expect(most).toBeGreaterThan(1_500);
    expect(load(withUrl(host + "x".repeat(most - host.length))).callbacks?.publicUrl).toHaveLength(most);
    expect(problemsOf(withUrl(host + "x".repeat(most - host.length + 1)))).toHaveLength(1);
  });

  it("comes with secrets that are long enough and different", () => {
    const secrets = (text: string) =>
      problemsOf({ ...CALLBACKS, CALLBACK_SECRETS: text }).map(({ message }) => message);
    expect(secrets(`${CALLBACK_SECRET},${CALLBACK_SECRET}`)).toEqual([
      expect.stringMatching(/secret 2 of 2: .*stands there twice/),
    ]);
    expect(secrets(`${CALLBACK_SECRET},,short`)).toEqual([
      "secret 2 of 3: expected a secret, found an empty one",
      expect.stringMatching(/^secret 3 of 3: expected at least 32 characters, found 5/),
    ]);
  });
});
