import { posix } from "node:path";

/**
 * Who may import whom, as a rule of the linter: what is not listed here is an error, for types too. The longest path
 * that a file's path begins with is its room. What a room does import, its head says (docs/architecture.md, "Folders");
 * a test holds that the two agree.
 *
 * - `files`: paths of ours, by how they begin; a room may always import itself. `typesOf`: the same, for types alone.
 * - `not`: files among those that this room must not take along.
 * - `packages`: from npm. `node`: Node's own modules too.
 *
 * @type {Record<string, { files: string[], typesOf?: string[], not?: RegExp, packages: string[], node?: boolean, why: string }>}
 */
export const ARROWS = {
  workflows: {
    files: ["src/contract"],
    // A schema inside the sandbox is loaded again for every cached workflow.
    not: /^src\/contract\/schema\//,
    packages: ["@temporalio/workflow", "@temporalio/common"],
    why: "Workflow code runs in Temporal's sandbox: it has the contract and the SDK, and no I/O.",
  },
  activities: {
    files: ["src/contract", "src/compliance", "src/accounting", "src/http", "src/ledger"],
    packages: ["@temporalio/activity", "@temporalio/client", "@temporalio/common"],
    node: true,
    why: "Activities know the contract, the clients, the transport and the ledger.",
  },
  "src/contract": {
    files: [],
    typesOf: ["src/contract/schema"],
    packages: ["@noble/hashes"],
    why: "The contract depends on nothing but SHA-256: of its zod schemas it has the types alone.",
  },
  "src/contract/schema": {
    files: ["src/contract"],
    packages: ["zod", "ms"],
    why: "The contract's schemas know the contract alone.",
  },
  "src/payloads": {
    files: [],
    packages: ["@temporalio/client", "@temporalio/proto"],
    node: true,
    why: "The encryption is part of the client package, and knows Temporal alone.",
  },
  "src/starter": {
    files: ["src/contract", "src/payloads"],
    packages: ["@temporalio/client", "zod"],
    node: true,
    not: /(contract|payloads)\/(schema\/)?index/,
    why: "The starter is the client package: @temporalio/client and the contract, file by file, so that it takes along no more.",
  },
  "src/nexus": {
    files: ["src/nexus/service.ts", "src/contract", "src/starter", "src/config"],
    typesOf: ["activities"],
    packages: ["nexus-rpc", "@temporalio/client", "@temporalio/nexus", "zod"],
    why: "The Nexus service is a starter for workflows of other namespaces; of the activities it has the types alone.",
  },
  "src/nexus/service.ts": {
    files: [],
    typesOf: ["src/contract", "src/starter"],
    packages: ["nexus-rpc"],
    why: "The workflows of other services import the definition: it brings nexus-rpc alone.",
  },
  "src/receipt": {
    files: ["src/contract"],
    packages: ["pdfkit", "qr", "get-east-asian-width"],
    node: true,
    not: /contract\/(schema\/)?index/,
    why: "The receipt package depends on the PDF and QR libraries, and takes along the files of the contract that it imports.",
  },
  "src/callbacks": {
    files: ["src/contract", "src/http/json.ts", "src/http/deadline.ts"],
    packages: ["fastify", "@temporalio/client", "@temporalio/common"],
    node: true,
    why: "The receiver knows the contract, how JSON from outside is read, and when a pause ends.",
  },
  "src/servers": {
    files: [],
    packages: ["@temporalio/client", "pg"],
    node: true,
    why: "The servers know none of our rooms.",
  },
  "src/http": {
    files: [],
    packages: ["undici", "zod"],
    node: true,
    why: "The transport knows none of our rooms.",
  },
  "src/compliance": {
    files: ["src/http"],
    typesOf: ["src/contract"],
    packages: ["zod"],
    node: true,
    why: "A client knows the transport; of the contract it has the types alone.",
  },
  "src/accounting": {
    files: ["src/http"],
    typesOf: ["src/contract"],
    packages: ["zod"],
    node: true,
    why: "A client knows the transport; of the contract it has the types alone.",
  },
  "src/config": {
    files: [
      "src/contract",
      "src/compliance/dialect.ts",
      "src/accounting/dialect.ts",
      "src/http/dialect-settings.ts",
      "src/payloads/keys.ts",
    ],
    packages: ["zod", "ipaddr.js", "jsonc-parser", "leven", "@temporalio/envconfig"],
    node: true,
    why: "The configuration knows the contract, the settings of the dialects, and how a payload key is written.",
  },
  "src/quota": {
    files: ["src/http"],
    typesOf: ["src/ledger"],
    packages: [],
    node: true,
    why: "The budget knows the transport; of the ledger, which counts, it has the types alone.",
  },
  "src/ledger": {
    files: ["src/contract", "src/servers/postgres-server.ts"],
    packages: ["kysely", "pg"],
    node: true,
    why: "The ledger knows the contract, and the PostgreSQL server of one host.",
  },
  "src/cli": {
    files: [
      "src/accounting",
      "src/compliance",
      "src/config",
      "src/contract",
      "src/http",
      "src/ledger",
      "src/payloads",
      "src/receipt",
      "src/servers",
      "src/starter",
      "src/worker",
    ],
    packages: ["@temporalio/client", "@temporalio/proto", "commander", "zod"],
    node: true,
    why: "The command line knows what it asks and what it runs as a process, and nothing of what these processes serve; the executable adds the commands for development.",
  },
  "src/dev": {
    files: ["src/dev/demo", "src/dev/simulator", "src/contract/plain-text.ts"],
    packages: ["commander"],
    node: true,
    why: "The commands for development get those of the product from the executable.",
  },
  "src/dev/simulator": {
    files: [],
    packages: ["fastify", "zod"],
    node: true,
    why: "The simulator shares nothing with the rest, so that one wrong reading cannot agree with itself.",
  },
  "src/dev/demo": {
    files: [
      "src/callbacks",
      "src/config",
      "src/contract",
      "src/dev/export-lines.ts",
      "src/dev/simulator",
      "src/servers",
      "src/starter",
      "src/worker",
    ],
    typesOf: ["src/ledger"],
    packages: ["@temporalio/client", "@temporalio/worker", "pino", "zod"],
    node: true,
    why: "The demo knows the simulator and the product's processes and servers, and is handed the commands that it shows.",
  },
  "src/worker": {
    files: [
      "activities",
      "src/accounting",
      "src/callbacks",
      "src/compliance",
      "src/config",
      "src/contract",
      "src/http",
      "src/ledger",
      "src/nexus",
      "src/payloads",
      "src/quota",
      "src/starter",
    ],
    packages: ["@temporalio/", "fastify", "pino", "zod"],
    node: true,
    why: "The worker makes what activities need and serves them, callbacks, Nexus and the codec; it bundles the workflows by their path, and imports none.",
  },
};

/**
 * Where none of these rooms begins a path, as in the executable and the tests, everything may be imported.
 * @param {string} path
 */
export const roomOf = (path) =>
  Object.keys(ARROWS)
    .filter((room) => within(path, room))
    .toSorted((a, b) => b.length - a.length)[0];

/** @type {(path: string, place: string) => boolean} */
export const within = (path, place) => path === place || path.startsWith(place.endsWith("/") ? place : `${place}/`);

/** @type {(from: string, room: string, source: string, isType: boolean) => boolean} */
function isAllowed(from, room, source, isType) {
  const rule = ARROWS[room];
  if (rule === undefined) return true;
  if (source.startsWith("node:")) return rule.node === true;
  if (!source.startsWith("."))
    return rule.packages.some((name) => source === name || source.startsWith(`${name.replace(/\/$/, "")}/`));
  const path = posix.join(posix.dirname(from), source);
  if (within(path, room) && roomOf(path) === room) return true;
  if (isType && (rule.typesOf ?? []).some((place) => within(path, place))) return true;
  return rule.files.some((place) => within(path, place)) && !rule.not?.test(path);
}

/** @type {(path: string) => boolean} */
export const isTest = (path) => /\.test\.ts$|\/test-support\//.test(path);

export default {
  meta: { name: "rooms" },
  rules: {
    arrows: {
      /** @param {{ cwd: string, filename: string, report: (found: { node: object, message: string }) => void }} context */
      create(context) {
        const path = posix.relative(context.cwd, context.filename);
        const room = isTest(path) ? undefined : roomOf(path);
        if (room === undefined) return {};
        /** @param {{ source?: { value: unknown } | null, importKind?: string, exportKind?: string }} node */
        const check = (node) => {
          const source = node.source?.value;
          const isType = node.importKind === "type" || node.exportKind === "type";
          if (typeof source !== "string" || isAllowed(path, room, source, isType)) return;
          context.report({ node, message: `${room} does not import ${source}. ${ARROWS[room]?.why}` });
        };
        return {
          ImportDeclaration: check,
          ImportExpression: check,
          ExportNamedDeclaration: check,
          ExportAllDeclaration: check,
        };
      },
    },
  },
};
