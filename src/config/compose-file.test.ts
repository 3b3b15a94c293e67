import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { Ajv } from "ajv";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { configReference } from "./test-support/config-reference.ts";
import { loadConfig } from "./index.ts";
import { SERVER_CONFIG } from "../servers/start-dev-server.ts";

const REPOSITORY = resolve(import.meta.dirname, "../..");
/** A linter of compose files carries the schema of the Compose specification. */
const SPECIFICATION = join(
  dirname(createRequire(import.meta.url).resolve("dclint/package.json")),
  "schemas/compose.schema.json",
);
const read = (path: string): string => readFileSync(resolve(REPOSITORY, path), "utf8");
const document: unknown = parse(read("docker-compose.yml"), { merge: true });

/** What the other tests look at; the whole is judged by the schema of the Compose specification. */
const serviceSchema = z.looseObject({
  image: z.string(),
  command: z.array(z.string()).optional(),
  env_file: z.string().optional(),
  environment: z.record(z.string(), z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  profiles: z.array(z.string()).optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).optional(),
  healthcheck: z.looseObject({ test: z.array(z.string()) }).optional(),
  restart: z.string(),
  stop_grace_period: z.string().optional(),
});
const { services } = z.looseObject({ services: z.record(z.string(), serviceSchema) }).parse(document);

/** How compose fills `${NAME:-default}` and `${NAME:?complaint}`, which may stand inside each other. */
function interpolate(text: string, env: NodeJS.ProcessEnv): string {
  const innermost = /\$\{(\w+)(?::([-?])([^${}]*))?\}/;
  let filled = text;
  for (let match = innermost.exec(filled); match !== null; match = innermost.exec(filled)) {
    const [whole, name = "", operator, word = ""] = match;
    const value = env[name] || (operator === "-" ? word : "");
    filled = filled.replace(whole, () => value);
  }
  return filled;
}

const PROCESSES = ["setup", "worker", "callbacks", "codec"];

/** What a process has where this stands in `.env`: the whole file, and over it what the service sets. */
function environmentOf(process: string, given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  expect(services[process]?.env_file).toBe("${FISCALFLOW_ENV_FILE:-.env}");
  const set = Object.entries(services[process]?.environment ?? {});
  return { ...given, ...Object.fromEntries(set.map(([name, value]) => [name, interpolate(value, given)])) };
}

it("docker-compose.yml follows the Compose specification", () => {
  const schema: object = JSON.parse(readFileSync(SPECIFICATION, "utf8"));
  const validate = new Ajv({ strict: false, validateFormats: false, validateSchema: false }).compile(schema);
  validate(document);
  expect(validate.errors).toBeNull();
});

it("docker-compose.yml waits only for existing services, and for health only where there is a check", () => {
  const broken = Object.entries(services).flatMap(([name, service]) =>
    Object.entries(service.depends_on ?? {}).flatMap(([needed, { condition }]) => {
      const target = services[needed];
      if (target === undefined) return [`${name} waits for ${needed}, which does not exist`];
      if (condition === "service_healthy" && target.healthcheck === undefined) return [`${needed} has no health check`];
      if (condition === "service_completed_successfully" && !target.restart.startsWith("on-failure"))
        return [`${needed} never completes`];
      return [];
    }),
  );
  expect(broken).toEqual([]);
});

it("docker-compose.yml pins every third-party image to a version", () => {
  const images = Object.values(services).map(({ image }) => image);
  const foreign = images.filter((image) => !image.startsWith("fiscalflow:"));
  expect(foreign).not.toEqual([]);
  for (const image of foreign) expect(image).toMatch(/:\d+\.\d+/);
});

it("docker-compose.yml runs the product's processes, and the simulator only by its profile", () => {
  const commands = Object.values(services)
    .filter(({ image }) => image.startsWith("fiscalflow:"))
    .map(({ command }) => command?.[0]);
  expect(new Set(commands)).toEqual(new Set([...PROCESSES, "simulator"]));
  expect(services["simulator"]?.profiles).toEqual(["simulator"]);
});

it("docker-compose.yml gives a worker more time to stop than the worker gives its calls", () => {
  expect(services["worker"]?.stop_grace_period).toBe("150s");
});

it("docker-compose.yml contains no secret, and requires the necessary ones from the environment", () => {
  const entries = Object.values(services).flatMap(({ environment = {} }) => Object.entries(environment));
  const secrets = entries.filter(([name]) => /PASSWORD|PWD|SECRET|TOKEN|API_KEY|LEDGER_(OWNER_)?URL/.test(name));
  const literals = secrets.filter(([, value]) => value !== "" && !/\$\{\w+:[-?]/.test(value));
  expect(secrets.length).toBeGreaterThan(0);
  expect(literals).toEqual([]);
  const worker = services["worker"]?.environment ?? {};
  expect(worker["COMPLIANCE_API_KEY"]).toMatch(/^\$\{COMPLIANCE_API_KEY:\?/);
  expect(worker["LEDGER_URL"]).toMatch(/\$\{LEDGER_PASSWORD:\?/);
});

it("docker-compose.yml keeps the superuser's password from the product, and the ledger's from Temporal", () => {
  const holding = (password: string): string[] =>
    Object.entries(services)
      .filter(([, { environment = {} }]) => Object.values(environment).some((value) => value.includes(`{${password}`)))
      .map(([name]) => name);
  expect(holding("POSTGRES_PASSWORD")).toEqual(["postgres", "temporal-schema", "temporal"]);
  expect(holding("LEDGER_PASSWORD")).toEqual(["postgres", "setup", "worker", "callbacks", "codec"]);
  expect(holding("LEDGER_OWNER_PASSWORD")).toEqual(["postgres", "setup"]);
  const given = { POSTGRES_PASSWORD: "superuser's", LEDGER_PASSWORD: "workers'", LEDGER_OWNER_PASSWORD: "owner's" };
  for (const process of PROCESSES) {
    const held = Object.entries(environmentOf(process, given)).filter(([, value]) =>
      /superuser|owner's/.test(value ?? ""),
    );
    expect(held.map(([name]) => name)).toEqual(process === "setup" ? ["LEDGER_OWNER_URL"] : []);
  }
  expect(services["postgres"]?.volumes).toContain("./deploy/postgres:/docker-entrypoint-initdb.d:ro");
});

/** The file has a Temporal server of its own. Without TLS, nothing reads the certificates. */
const OWN_TEMPORAL = [
  "TEMPORAL_ADDRESS",
  "TEMPORAL_API_KEY",
  "TEMPORAL_TLS",
  "TEMPORAL_CONFIG_FILE",
  "TEMPORAL_PROFILE",
];
/** The file's health checks, published ports and volumes need them as they are. */
const OWN_HOSTS = ["MONITORING_HOST", "FISCALFLOW_HOME"];
/** Nobody but `setup` acts as the owner of the ledger's tables, and nobody but `codec` has the token that it asks for. */
const FIXED_OF: Readonly<Record<string, readonly string[]>> = {
  setup: ["FISCALFLOW_CODEC_TOKEN"],
  worker: ["LEDGER_OWNER_URL", "FISCALFLOW_CODEC_TOKEN", "HEALTH_PORT", "METRICS_PORT"],
  callbacks: ["LEDGER_OWNER_URL", "FISCALFLOW_CODEC_TOKEN", "CALLBACK_PORT", "METRICS_PORT"],
  codec: ["LEDGER_OWNER_URL", "FISCALFLOW_CODEC_PORT"],
};

it.each(PROCESSES)(
  "docker-compose.yml passes every documented setting to %s, except those that it fixes",
  (process) => {
    const names = configReference.flatMap(({ variable }) => variable.split(", "));
    const given = Object.fromEntries(names.map((name) => [name, `${name} of the operator`]));
    const env = environmentOf(process, given);
    const changed = names.filter((name) => env[name] !== given[name]);
    expect(new Set(changed)).toEqual(new Set([...OWN_TEMPORAL, ...OWN_HOSTS, ...(FIXED_OF[process] ?? [])]));
  },
);

it("docker-compose.yml gives each process a valid configuration, complete for the simulator", () => {
  const given = parseEnv(read("deploy/simulator.env"));
  expect(given).toMatchObject({ COMPOSE_PROFILES: "simulator", FISCALFLOW_ENV_FILE: "deploy/simulator.env" });
  const ofTheFile = [...read("docker-compose.yml").matchAll(/\$\{(\w+)/g)].map(([, name = ""]) => [name, "1"]);
  const settings = new Set(configReference.map(({ variable }) => variable));
  const others = Object.fromEntries(ofTheFile.filter(([name = ""]) => !settings.has(name)));
  for (const name of PROCESSES) {
    const env = environmentOf(name, given);
    expect(env["LEDGER_URL"]).toBe("postgres://ledger:simulator@postgres.localhost:5432/ledger");
    const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
    expect(loadConfig({ env })).toEqual(loadConfig({ env: set }));
    // No variable of the file itself passes for a misspelt setting.
    expect(() => loadConfig({ env: { ...others, ...env } })).not.toThrow();
  }
});

it("docker-compose.yml orders tasks by priority and fairness, as the development server does", () => {
  const config = z
    .record(z.string(), z.array(z.object({ value: z.unknown() })))
    .parse(parse(read("deploy/temporal/dynamicconfig.yaml")));
  const values = Object.fromEntries(Object.entries(config).map(([key, [first]]) => [key, first?.value]));
  expect(values).toMatchObject(SERVER_CONFIG);
});
