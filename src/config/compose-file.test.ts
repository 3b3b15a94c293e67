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
  entrypoint: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  env_file: z.string().optional(),
  environment: z.record(z.string(), z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  profiles: z.array(z.string()).optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).optional(),
  healthcheck: z.looseObject({ test: z.array(z.string()) }).optional(),
  restart: z.string(),
  stop_grace_period: z.string().optional(),
  cap_drop: z.array(z.string()).optional(),
  cap_add: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  read_only: z.boolean().optional(),
  tmpfs: z.array(z.string()).optional(),
  ports: z.array(z.string()).optional(),
  secrets: z.array(z.string()).default([]),
  networks: z
    .union([z.array(z.string()), z.record(z.string(), z.unknown()).transform((named) => Object.keys(named))])
    .default(["default"]),
});
const { services, networks, secrets } = z
  .looseObject({
    services: z.record(z.string(), serviceSchema),
    networks: z.record(z.string(), z.object({ internal: z.boolean().optional() }).nullable()),
    secrets: z.record(z.string(), z.strictObject({ file: z.string() })),
  })
  .parse(document);

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

/** The file of the host that a process finds at a path, by what its service mounts. @throws where nothing is mounted */
function mounted(process: string, path: string, given: NodeJS.ProcessEnv): string {
  const service = services[process];
  const files = (service?.secrets ?? []).map((name) => `${secrets[name]?.file ?? ""}:/run/secrets/${name}`);
  const found = [...files, ...(service?.volumes ?? [])]
    .map((mount) => interpolate(mount, given).split(":"))
    .find(([, target = ""]) => path === target || path.startsWith(`${target}/`));
  if (found === undefined) throw new Error(`nothing is mounted at ${path}`);
  const [source = "", target = ""] = found;
  return read(source + path.slice(target.length));
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
  for (const image of foreign) expect(image).toMatch(/:v?\d+\.\d+/);
});

it("docker-compose.yml and the Dockerfile pin images by digest", () => {
  const bases = [...read("Dockerfile").matchAll(/^FROM (\S+)/gm)].map(([, image = ""]) => image);
  expect(new Set(bases).size).toBe(1);
  const images = [...bases, ...Object.values(services).map(({ image }) => image)];
  const byTag = images.filter((image) => !/@sha256:[0-9a-f]{64}$/.test(image) && !image.startsWith("fiscalflow:"));
  // No digest of Temporal's images is known to us yet.
  expect(byTag.filter((image) => !image.startsWith("temporalio/"))).toEqual([]);
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

it("docker-compose.yml contains no secret: each is a file, and no variable of a container", () => {
  const entries = Object.values(services).flatMap(({ environment = {} }) => Object.entries(environment));
  const sensitive = entries.filter(([name]) => /PASSWORD|PWD|SECRET|TOKEN|API_KEY|LEDGER_(OWNER_)?URL/.test(name));
  const values = new Set(sensitive.map(([name, value]) => `${name}=${value}`));
  // What `.env` gives instead is the operator's decision. Nothing is given by default.
  expect(values).toEqual(
    new Set([
      "POSTGRES_PASSWORD_FILE=/run/secrets/postgres-password",
      "GF_SECURITY_ADMIN_PASSWORD__FILE=/run/secrets/grafana-password",
      "TEMPORAL_API_KEY=",
      "LEDGER_URL=",
      "LEDGER_OWNER_URL=",
      "LEDGER_OWNER_URL=${LEDGER_OWNER_URL:-${LEDGER_URL:-}}",
      "FISCALFLOW_CODEC_TOKEN=",
      "FISCALFLOW_CODEC_TOKEN=${FISCALFLOW_CODEC_TOKEN:-}",
    ]),
  );
  for (const [name, { file }] of Object.entries(secrets))
    expect(file).toBe(`\${FISCALFLOW_SECRETS:-./secrets}/${name}`);
});

it("docker-compose.yml has no password in a command line", () => {
  const { FISCALFLOW_SECRETS: folder = "" } = parseEnv(read("deploy/simulator.env"));
  const held = Object.keys(secrets).map((name) => read(`${folder}/${name}`).trim());
  for (const { entrypoint = [], command = [], healthcheck } of Object.values(services)) {
    const line = [...entrypoint, ...command, ...(healthcheck?.test ?? [])].join("\n");
    // A file may be read into a variable of the process, and not into an argument.
    const variables = line.replaceAll(/^\s*\w+=\$\$\(cat \/run\/secrets\/[\w-]+\)$/gm, "");
    expect(variables).not.toMatch(/\/run\/secrets|(?<!\$)\$\{/);
    expect(held.filter((value) => line.includes(value))).toEqual([]);
  }
});

it("docker-compose.yml gives each secret only to those who need it", () => {
  const holding = Object.fromEntries(
    Object.keys(secrets).map((secret) => [
      secret,
      Object.keys(services).filter((name) => services[name]?.secrets.includes(secret)),
    ]),
  );
  expect(holding).toEqual({
    "postgres-password": ["postgres"],
    "temporal-password": ["postgres", "temporal-schema", "temporal"],
    "ledger-password": ["postgres"],
    "ledger-owner-password": ["postgres"],
    "ledger-url": ["setup", "worker"],
    "ledger-owner-url": ["setup"],
    "compliance-api-key": ["setup", "worker", "callbacks", "codec"],
    "codec-token": ["codec"],
    "grafana-password": ["grafana"],
  });
  expect(services["postgres"]?.volumes).toContain("./deploy/postgres:/docker-entrypoint-initdb.d:ro");
});

it("docker-compose.yml lets Temporal act as a role of its own, and not as the superuser", () => {
  expect(services["temporal-schema"]?.environment).toMatchObject({ SQL_USER: "temporal" });
  expect(services["temporal"]?.environment).toMatchObject({ POSTGRES_USER: "temporal" });
});

it.each(Object.entries(services))("docker-compose.yml lets %s gain no privileges", (name, service) => {
  const { cap_drop: dropped, cap_add: added = [], security_opt: options, ports = [] } = service;
  expect({ dropped, options }).toEqual({ dropped: ["ALL"], options: ["no-new-privileges:true"] });
  // What its entrypoint needs before it goes on as the server's user.
  expect(added).toEqual(name === "postgres" ? ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"] : []);
  // Callbacks alone come from outside of this host, if the operator says so.
  const bind = name === "callbacks" ? "${CALLBACK_BIND:-127.0.0.1}" : "127.0.0.1";
  for (const port of ports) expect(port.startsWith(`${bind}:`), port).toBe(true);
});

it("docker-compose.yml gives the product's containers a root that nobody can write to", () => {
  const ours = Object.values(services).filter(({ image }) => image.startsWith("fiscalflow:"));
  expect(ours.length).toBeGreaterThan(PROCESSES.length);
  for (const service of ours) expect(service).toMatchObject({ read_only: true, tmpfs: ["/tmp"] });
});

it("docker-compose.yml has PostgreSQL in an internal network alone, with those who need it", () => {
  expect(services["postgres"]).toMatchObject({ networks: ["database"] });
  expect(services["postgres"]?.ports).toBeUndefined();
  expect(networks["database"]).toEqual({ internal: true });
  const inside = Object.keys(services).filter((name) => services[name]?.networks.includes("database"));
  expect(inside).toEqual(["postgres", "temporal-schema", "temporal", "setup", "worker"]);
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
/**
 * Nobody but `setup` acts as the owner of the ledger's tables, nobody but `codec` has the token that it asks for, and only
 * who is in the database's network has its address.
 */
const FIXED_OF: Readonly<Record<string, readonly string[]>> = {
  setup: ["FISCALFLOW_CODEC_TOKEN"],
  worker: ["LEDGER_OWNER_URL", "FISCALFLOW_CODEC_TOKEN", "HEALTH_PORT", "METRICS_PORT"],
  callbacks: ["LEDGER_URL", "LEDGER_OWNER_URL", "FISCALFLOW_CODEC_TOKEN", "CALLBACK_PORT", "METRICS_PORT"],
  codec: ["LEDGER_URL", "LEDGER_OWNER_URL", "FISCALFLOW_CODEC_PORT"],
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
  const { FISCALFLOW_SECRETS: folder = "" } = given;
  expect(given).toMatchObject({ COMPOSE_PROFILES: "simulator", FISCALFLOW_ENV_FILE: "deploy/simulator.env" });
  const ofTheFile = [...read("docker-compose.yml").matchAll(/\$\{(\w+)/g)].map(([, name = ""]) => [name, "1"]);
  const settings = new Set(configReference.map(({ variable }) => variable));
  const others = Object.fromEntries(ofTheFile.filter(([name = ""]) => !settings.has(name)));
  const passwords: Record<string, unknown> = {};
  for (const name of PROCESSES) {
    const env = environmentOf(name, given);
    const readFile = (path: string): string => mounted(name, path, given);
    const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
    const config = loadConfig({ env, readFile });
    expect(JSON.stringify(config)).toBe(JSON.stringify(loadConfig({ env: set, readFile })));
    expect(config.compliance[0]?.apiKey.reveal()).toBe("cmp_sk_test_simulator");
    expect(config.codec?.token.reveal()).toBe(name === "codec" ? read(`${folder}/codec-token`).trim() : undefined);
    passwords[name] = [config.ledger.url?.reveal(), config.ledger.ownerUrl?.reveal()];
    // No variable of the file itself passes for a misspelt setting.
    const { unknownVariables } = loadConfig({ env: { ...others, ...env }, readFile });
    expect(unknownVariables).toEqual([]);
  }
  const urlOf = (user: string, file: string): string =>
    `postgres://${user}:${read(`${folder}/${file}`).trim()}@postgres.localhost:5432/ledger`;
  const url = urlOf("ledger", "ledger-password");
  const ownerUrl = urlOf("ledger_owner", "ledger-owner-password");
  expect(passwords).toEqual({
    setup: [url, ownerUrl],
    worker: [url, undefined],
    callbacks: [undefined, undefined],
    codec: [undefined, undefined],
  });
});

it("docker-compose.yml orders tasks by priority and fairness, as the development server does", () => {
  const config = z
    .record(z.string(), z.array(z.object({ value: z.unknown(), constraints: z.unknown().optional() })))
    .parse(parse(read("deploy/temporal/dynamicconfig.yaml")));
  const values = Object.fromEntries(Object.entries(config).map(([key, [first]]) => [key, first?.value]));
  expect(values).toMatchObject(SERVER_CONFIG);
  // A mass callback must not depend on it.
  expect(config["matching.enableFairness"]?.[0]?.constraints).toEqual({ taskType: "Activity" });
});
