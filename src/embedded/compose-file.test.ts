import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { Ajv } from "ajv";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { configReference } from "../config/config-reference.ts";
import { loadConfig } from "../config/index.ts";
import { SERVER_CONFIG } from "./dev-server-arguments.ts";

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
  expect(new Set(commands)).toEqual(new Set(["setup", "worker", "callbacks", "simulator"]));
  expect(services["simulator"]?.profiles).toEqual(["simulator"]);
});

it("docker-compose.yml gives a worker more time to stop than the worker gives its calls", () => {
  expect(services["worker"]?.stop_grace_period).toBe("150s");
});

it("docker-compose.yml contains no secret, and requires the necessary ones from the environment", () => {
  const entries = Object.values(services).flatMap(({ environment = {} }) => Object.entries(environment));
  const secrets = entries.filter(([name]) => /PASSWORD|PWD|SECRET|API_KEY|LEDGER_(OWNER_)?URL/.test(name));
  const literals = secrets.filter(([, value]) => !/\$\{\w+:[-?]/.test(value));
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
  expect(holding("LEDGER_PASSWORD")).toEqual(["postgres", "setup", "worker", "callbacks"]);
  expect(holding("LEDGER_OWNER_PASSWORD")).toEqual(["postgres", "setup"]);
  expect(services["postgres"]?.volumes).toContain("./deploy/postgres:/docker-entrypoint-initdb.d:ro");
});

/** Documented settings that an operator's `.env` does not decide. */
const FIXED = [
  // The file has a Temporal server of its own.
  /^TEMPORAL_(ADDRESS|API_KEY|TLS.*|CONFIG_FILE|PROFILE)$/,
  // No embedded server is started.
  /^TEMPORAL_(CLI|TEST_SERVER)_PATH$/,
  // The file's health checks and published ports need them as they are.
  /^(HEALTH|METRICS|CALLBACK)_PORT$/,
  // The image has them. Passed on empty, they would mean loopback.
  /^(HEALTH|METRICS)_HOST$/,
  // The image has it.
  /^FISCALFLOW_HOME$/,
];

it("docker-compose.yml passes every documented setting to each process, except those that it or the image fixes", () => {
  const names = configReference.flatMap(({ variable }) => variable.split(", "));
  const toPass = names.filter((name) => !FIXED.some((fixed) => fixed.test(name)));
  for (const process of ["setup", "worker", "callbacks"]) {
    const environment = services[process]?.environment ?? {};
    const passed = names.filter((name) => environment[name]?.includes(`\${${name}:`));
    // Nobody but `setup` acts as the owner of the ledger's tables.
    expect(passed).toEqual(toPass.filter((name) => process === "setup" || name !== "LEDGER_OWNER_URL"));
  }
});

it("docker-compose.yml gives each process a valid configuration, complete for the simulator", () => {
  const given = parseEnv(read("deploy/simulator.env"));
  expect(given["COMPOSE_PROFILES"]).toBe("simulator");
  for (const name of ["setup", "worker", "callbacks"]) {
    const entries = Object.entries(services[name]?.environment ?? {});
    const env = Object.fromEntries(entries.map(([key, value]) => [key, interpolate(value, given)]));
    expect(env["LEDGER_URL"]).toBe("postgres://ledger:simulator@postgres.localhost:5432/ledger");
    const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
    expect(loadConfig({ env })).toEqual(loadConfig({ env: set }));
  }
});

it("docker-compose.yml orders tasks by priority and fairness, as the development server does", () => {
  const config = z
    .record(z.string(), z.array(z.object({ value: z.unknown() })))
    .parse(parse(read("deploy/temporal/dynamicconfig.yaml")));
  const values = Object.fromEntries(Object.entries(config).map(([key, [first]]) => [key, first?.value]));
  expect(values).toMatchObject(SERVER_CONFIG);
});
