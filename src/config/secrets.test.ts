import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";

import { loadConfig } from "./load-config.ts";
import { load, problemsOf, withFile } from "./test-support/load.ts";

const CALLBACKS = ["callback secret of this year, long enough", "callback secret of last year, long enough"] as const;
const AT_START = {
  "compliance.shop.apiKey": "cmp_sk_test_shop",
  "compliance.depot.apiKey": "cmp_sk_test_depot",
  "accounting.books.apiKey": "sk_development_books",
  "accounting.books.clientSecret": "cs_books",
  "accounting.books.webhookSecrets.1": "whsec_development_books",
  "callbacks.secrets.1": CALLBACKS[0],
  "callbacks.secrets.2": CALLBACKS[1],
};
type Name = keyof typeof AT_START;

/** Every kind of secret, each in a file that is called as its setting. */
async function started() {
  const folder = await mkdtemp(join(tmpdir(), "fiscalflow-secrets-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const pathOf = (name: Name): string => join(folder, name);
  const write = (name: Name, text: string): Promise<void> => writeFile(pathOf(name), text);
  for (const [name, value] of Object.entries(AT_START)) await write(name as Name, `${value}\n`);
  const file = (name: Name) => ({ file: name });
  const seller = { baseUrl: "https://api.example.com", keyReach: "organisation" };
  const text = JSON.stringify({
    compliance: {
      shop: { ...seller, businessId: "biz_1", apiKey: file("compliance.shop.apiKey") },
      depot: { ...seller, businessId: "biz_2", apiKey: file("compliance.depot.apiKey") },
    },
    accounting: {
      books: {
        baseUrl: "https://books.example.com",
        apiKey: file("accounting.books.apiKey"),
        clientSecret: file("accounting.books.clientSecret"),
        webhookSecrets: [file("accounting.books.webhookSecrets.1")],
      },
    },
    callbacks: {
      publicUrl: "https://callbacks.example.com",
      secrets: [file("callbacks.secrets.1"), file("callbacks.secrets.2")],
    },
  });
  const config = loadConfig(withFile({}, text, { folder, readFile: (path) => readFileSync(path, "utf8") }));
  const said: string[] = [];
  const files = config.secretFiles;
  const end = files.start({
    replaced: (name) => void said.push(`replaced ${name}`),
    refused: (name, _path, why) => void said.push(`refused ${name}: ${why}`),
    usable: (name) => void said.push(`usable ${name}`),
  });
  onTestFinished(end);
  const values = () => Object.fromEntries(files.all.map(({ name, secret }) => [name, secret.reveal()]));
  return { folder, config, files, said, values, write, pathOf };
}

describe("a secret that is given as a file", () => {
  test.each<[Name, string]>([
    ["compliance.shop.apiKey", "cmp_sk_test_new"],
    ["accounting.books.apiKey", "sk_development_new"],
    ["accounting.books.clientSecret", "cs_new"],
    ["accounting.books.webhookSecrets.1", "whsec_development_new"],
    ["callbacks.secrets.1", "callback secret of next year, long enough"],
    ["callbacks.secrets.2", "callback secret of next year, long enough"],
  ])("%s changes when its file does, and no other does", async (name, value) => {
    const { files, said, values, write } = await started();
    expect(values()).toEqual(AT_START);
    await write(name, `${value}\n`);
    files.readAgain();
    expect(values()).toEqual({ ...AT_START, [name]: value });
    expect(said).toEqual([`replaced ${name}`]);
  });

  test("changes by itself, without being asked for", async () => {
    const { values, write } = await started();
    await write("compliance.shop.apiKey", "cmp_sk_test_new");
    await expect.poll(() => values()["compliance.shop.apiKey"], { timeout: 8_000 }).toBe("cmp_sk_test_new");
  });

  test("is not taken while it is being written", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "setTimeout", "clearInterval", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { said, values, write } = await started();
    const name = "compliance.shop.apiKey";
    await write(name, "cmp_sk_test_n");
    vi.advanceTimersByTime(5_000);
    await write(name, "cmp_sk_test_new");
    vi.advanceTimersByTime(100);
    expect([values()[name], said]).toEqual([AT_START[name], []]);
    vi.advanceTimersByTime(5_100);
    expect([values()[name], said]).toEqual(["cmp_sk_test_new", [`replaced ${name}`]]);
  });

  test("is read once where it is a pipe", async () => {
    const { files, said, values, pathOf } = await started();
    const name = "compliance.shop.apiKey";
    await rm(pathOf(name));
    execFileSync("sh", ["-c", 'mkfifo "$0"', pathOf(name)]);
    files.readAgain();
    expect([values(), said]).toEqual([AT_START, []]);
  });

  test("follows a mount that changes by a symbolic link above the file", async () => {
    const { folder, files, values, pathOf } = await started();
    for (const [version, key] of [
      ["..1", "cmp_sk_test_one"],
      ["..2", "cmp_sk_test_two"],
    ] as const) {
      await mkdir(join(folder, version));
      await writeFile(join(folder, version, "key"), key);
    }
    const link = async (version: string): Promise<void> => {
      await symlink(version, join(folder, "..new"));
      await rename(join(folder, "..new"), join(folder, "..data"));
    };
    await link("..1");
    await rm(pathOf("compliance.shop.apiKey"));
    await symlink(join("..data", "key"), pathOf("compliance.shop.apiKey"));
    files.readAgain();
    expect(values()["compliance.shop.apiKey"]).toBe("cmp_sk_test_one");
    await link("..2");
    files.readAgain();
    expect(values()["compliance.shop.apiKey"]).toBe("cmp_sk_test_two");
  });

  test("takes the place of the one before it together with those that change with it", async () => {
    const { files, values, write } = await started();
    await write("accounting.books.apiKey", "sk_development_new");
    await write("accounting.books.clientSecret", "cs_new");
    files.readAgain();
    expect(values()).toMatchObject({
      "accounting.books.apiKey": "sk_development_new",
      "accounting.books.clientSecret": "cs_new",
    });
  });

  test("may stand in two places of a list while it moves from one to the other", async () => {
    const { files, values, write } = await started();
    await write("callbacks.secrets.2", CALLBACKS[0]);
    files.readAgain();
    await write("callbacks.secrets.1", "callback secret of next year, long enough");
    files.readAgain();
    expect(values()).toMatchObject({
      "callbacks.secrets.1": "callback secret of next year, long enough",
      "callbacks.secrets.2": CALLBACKS[0],
    });
  });
});

describe("a file that cannot be used", () => {
  const wrong: [string, Name, string | undefined, string][] = [
    ["that is missing", "compliance.shop.apiKey", undefined, "cannot be read (ENOENT)"],
    ["that is empty", "compliance.shop.apiKey", "\n", "found 0 other characters"],
    [
      "with another kind of key",
      "compliance.shop.apiKey",
      "sk_development_x",
      "expected a key of the tax-compliance API",
    ],
    ["with white space in it", "compliance.shop.apiKey", "cmp_sk_test_a b", "goes on without white space"],
    ["with a key of the other environment", "compliance.shop.apiKey", "cmp_sk_live_x", "environment that the process"],
    ["with another connection's key", "compliance.shop.apiKey", "cmp_sk_test_depot", "one connection for each key"],
    [
      "with another kind of key",
      "accounting.books.apiKey",
      "cs_books",
      "expected an API key of the accounting service",
    ],
    [
      "with a key of the other environment",
      "accounting.books.apiKey",
      "sk_production_x",
      "of the API key's environment",
    ],
    ["with another kind of secret", "accounting.books.clientSecret", "sk_development_x", "expected a client secret"],
    [
      "of the other environment",
      "accounting.books.webhookSecrets.1",
      "whsec_production_x",
      "expected a webhook secret of the API key's environment",
    ],
    ["with a short secret", "callbacks.secrets.1", "short and secret", "expected at least 32 characters, found 16"],
  ];
  test.each(wrong)("%s keeps the value of before, and is warned of once: %s", async (_what, name, text, why) => {
    const { files, said, values, write, pathOf } = await started();
    if (text === undefined) await rm(pathOf(name));
    else await write(name, text);
    files.readAgain();
    files.readAgain();
    expect(values()).toEqual(AT_START);
    expect(said).toEqual([expect.stringContaining(`refused ${name}: `)]);
    expect(said[0]).toContain(why);
    const secrets = [...Object.values(AT_START), text?.trim() || "nothing to look for"];
    for (const secret of secrets) expect(said[0]).not.toContain(secret);
  });

  test("is warned of again only after it could be used in between", async () => {
    const { files, said, write, pathOf, values } = await started();
    const name = "compliance.shop.apiKey";
    await rm(pathOf(name));
    files.readAgain();
    await write(name, "of a wrong form");
    files.readAgain();
    expect(said).toHaveLength(1);
    await write(name, AT_START[name]);
    files.readAgain();
    await rm(pathOf(name));
    files.readAgain();
    await write(name, "cmp_sk_test_new");
    files.readAgain();
    expect(said.map((line) => line.split(" ", 1)[0])).toEqual(["refused", "usable", "refused", "replaced", "usable"]);
    expect(values()[name]).toBe("cmp_sk_test_new");
  });

  test("does not hold up the others", async () => {
    const { files, write, pathOf, values } = await started();
    await rm(pathOf("compliance.depot.apiKey"));
    await write("compliance.shop.apiKey", "cmp_sk_test_new");
    files.readAgain();
    expect(values()).toEqual({ ...AT_START, "compliance.shop.apiKey": "cmp_sk_test_new" });
  });
});

describe("the logins of the ledger, in a process that does not use it", () => {
  const usesLedger = false;
  const LEDGER = { url: { file: "/run/secrets/ledger-url" }, ownerUrl: { env: "LEDGER_URL_OF_OWNER" } };

  test("are not read, and need not be there, or be right", () => {
    const { ledger } = load({}, { ledger: { ...LEDGER, retentionYears: 7 } }, { usesLedger });
    expect(ledger).toMatchObject({ url: undefined, ownerUrl: undefined, retentionYears: 7 });
    expect(load({ LEDGER_URL: "nonsense" }, undefined, { usesLedger }).ledger.url).toBeUndefined();
    expect(problemsOf({}, { ledger: LEDGER }).map(({ path }) => path)).toEqual(["ledger.url", "ledger.ownerUrl"]);
  });

  test("may stand in a variable of any name, and not in the file", () => {
    const env = { LEDGER_URL_OF_OWNER: "postgres://owner:1@db.example.com/ledger" };
    expect(load(env, { ledger: LEDGER }, { usesLedger }).unknownVariables).toEqual([]);
    const literal = { ledger: { url: "postgres://ledger:1@db.example.com/ledger" } };
    expect(problemsOf({}, literal, { usesLedger })).toEqual([
      { path: "ledger.url", message: expect.stringContaining("found a literal (not shown)") },
    ]);
  });
});

test("secrets of variables stay as they are, and no file is read for them", () => {
  const env = { COMPLIANCE_BASE_URL: "https://api.example.com", COMPLIANCE_API_KEY: "cmp_sk_test_a" };
  expect(loadConfig({ env: { ...env, COMPLIANCE_BUSINESS_ID: "biz_1" } }).secretFiles.all).toEqual([]);
});
