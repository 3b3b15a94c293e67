import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";

import { HEADERS_MS } from "../src/callbacks/bounded-server.ts";
import { CHECK_MS, SIGNAL_MS } from "../src/callbacks/temporal-signaller.ts";
import { listen, Surroundings } from "../src/callbacks/test-support/listening-receiver.ts";
import { createProgram } from "../src/cli/run-cli.ts";
import { callCli } from "../src/cli/test-support/call-cli.ts";
import { loadConfig } from "../src/config/index.ts";
import { configReference } from "../src/config/test-support/config-reference.ts";
import { GRACE_BEYOND_CALL_MS } from "../src/worker/create-workers.ts";
import { READINESS_CALL_MS, startHealthServer } from "../src/worker/health.ts";
import { POLL_LASTS_MS } from "../src/worker/permits.ts";

/**
 * What deploy/kubernetes says of the product, held against the product. That the manifests are good Kubernetes,
 * `npm run check:kubernetes` says.
 */

const ROOT = resolve(import.meta.dirname, "..");
const FOLDER = "deploy/kubernetes";
const FILES = ["network-policies.yaml", "receiver.yaml", "service-accounts.yaml"];
const OF_A_VERSION = ["worker.yaml", "setup.yaml"];

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** Labels, annotations, and what else is names with texts. */
const labels = z.record(z.string(), z.string());
const selector = z.object({ matchLabels: labels });
const portSchema = z.object({ port: z.union([z.number(), z.string()]) });
const rulesSchema = z.array(z.looseObject({ ports: z.array(portSchema), from: z.array(z.unknown()).optional() }));
const probeSchema = z.object({
  httpGet: z.object({ path: z.string(), port: z.string() }),
  periodSeconds: z.number(),
  timeoutSeconds: z.number(),
  failureThreshold: z.number(),
});
const containerSchema = z.looseObject({
  image: z.string(),
  args: z.tuple([z.string()]),
  envFrom: z.array(z.object({ configMapRef: z.object({ name: z.string() }) })),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
  lifecycle: z.object({ preStop: z.object({ exec: z.object({ command: z.array(z.string()) }) }) }).optional(),
  startupProbe: probeSchema.optional(),
  livenessProbe: probeSchema.optional(),
  readinessProbe: probeSchema.optional(),
  resources: z.object({ limits: z.object({ memory: z.string() }) }),
  securityContext: z.unknown(),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
});
const volumeSchema = z.looseObject({
  name: z.string(),
  configMap: z.object({ name: z.string() }).optional(),
  secret: z
    .looseObject({
      secretName: z.string(),
      items: z.array(z.object({ key: z.string(), path: z.string() })).optional(),
    })
    .optional(),
});
const podSchema = z.looseObject({
  metadata: z.object({ labels, annotations: labels.default({}) }),
  spec: z.looseObject({
    serviceAccountName: z.string(),
    automountServiceAccountToken: z.boolean(),
    enableServiceLinks: z.boolean(),
    nodeSelector: labels.default({}),
    terminationGracePeriodSeconds: z.number().optional(),
    securityContext: z.looseObject({ runAsUser: z.number() }),
    containers: z.tuple([containerSchema]),
    volumes: z.array(volumeSchema),
  }),
});
const workloadSchema = z.object({ spec: z.looseObject({ selector: selector.optional(), template: podSchema }) });
const objectSchema = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), annotations: labels.default({}) }),
});
const policySchema = z.object({
  spec: z.object({
    podSelector: selector,
    policyTypes: z.array(z.string()),
    ingress: rulesSchema.default([]),
    egress: rulesSchema.default([]),
  }),
});
const generator = z.looseObject({
  name: z.string(),
  envs: z.array(z.string()).default([]),
  files: z.array(z.string()).default([]),
});
const kustomizationSchema = z.looseObject({
  resources: z.array(z.string()),
  nameSuffix: z.string().optional(),
  labels: z.array(z.object({ pairs: labels, includeSelectors: z.boolean() })).default([]),
  configMapGenerator: z.array(generator).default([]),
  generatorOptions: z.object({ annotations: labels }).optional(),
  images: z.array(labels).default([]),
});

const objectsIn = (path: string) =>
  parseAllDocuments(read(path)).map((document) => objectSchema.parse(document.toJS() as unknown));
const versioned = OF_A_VERSION.flatMap((name) => objectsIn(`${FOLDER}/base/version/${name}`));
const objects = [...FILES.flatMap((name) => objectsIn(`${FOLDER}/base/${name}`)), ...versioned];
const ofKind = (kind: string) => objects.filter((one) => one.kind === kind);
const policies = ofKind("NetworkPolicy").map((one) => ({
  name: one.metadata.name,
  ...policySchema.parse(one).spec,
}));

const kustomizationOf = (folder: string) =>
  kustomizationSchema.parse(parse(read(`${FOLDER}/${folder}/kustomization.yaml`)));
const BASE = kustomizationOf("base");
const VERSION = kustomizationOf("base/version");
const EXAMPLE = kustomizationOf("example");

/** What a pod of each process has, by the command that it runs. */
const pods = new Map(
  [...ofKind("Deployment"), ...ofKind("Job")].map((one) => {
    const { template } = workloadSchema.parse(one).spec;
    const { labels: ofPod, annotations } = template.metadata;
    const [container] = template.spec.containers;
    return [container.args[0], { name: one.metadata.name, labels: ofPod, annotations, container, spec: template.spec }];
  }),
);
const PROCESSES = ["worker", "callbacks", "setup"];

function podOf(process: string) {
  const pod = pods.get(process);
  if (pod === undefined) throw new Error(`no workload runs \`fiscalflow ${process}\``);
  return pod;
}

const matches = (wanted: z.output<typeof labels>, given: z.output<typeof labels>): boolean =>
  Object.entries(wanted).every(([name, value]) => given[name] === value);
const selectedBy = (wanted: z.output<typeof labels>): string[] =>
  PROCESSES.filter((process) => matches(wanted, podOf(process).labels));

/** The Secrets that docs/kubernetes.md has made, with values of the right form. */
const VALUES: Readonly<Record<string, string>> = {
  "compliance-api-key": "cmp_sk_test_1",
  "callback-secret": "for-tests-only-0123456789abcdef0123456789",
  "ledger-url": "postgres://ledger:1@db.example.com:5432/ledger?sslmode=verify-full",
  "ledger-owner-url": "postgres://ledger_owner:1@db.example.com:5432/ledger?sslmode=verify-full",
};
const SECRETS = new Map(
  [...read("docs/kubernetes.md").matchAll(/create secret generic (\S+)((?:[^\n]*\\\n)*[^\n]*)/g)].map(
    ([, name = "", rest = ""]) => [name, [...rest.matchAll(/--from-file=([\w-]+)/g)].map(([, key]) => key)],
  ),
);

/** The variables of the image, and over them those of the ConfigMaps, as the example merges them. */
function environmentOf(process: string): NodeJS.ProcessEnv {
  const ofImage = [...read("Dockerfile").matchAll(/^ENV (.+)$/gm)].flatMap(([, line = ""]) => line.split(" "));
  const env: NodeJS.ProcessEnv = parseEnv(ofImage.join("\n"));
  const { envFrom } = podOf(process).container;
  const layers = [
    { folder: "base", kustomization: BASE },
    { folder: "example", kustomization: EXAMPLE },
  ];
  for (const { configMapRef } of envFrom)
    for (const { folder, kustomization } of layers)
      for (const { name, envs } of kustomization.configMapGenerator)
        if (name === configMapRef.name)
          for (const file of envs) Object.assign(env, parseEnv(read(`${FOLDER}/${folder}/${file}`)));
  return env;
}

/** What a container finds at a path: a file of a ConfigMap, or the value of a Secret. */
function mountedFile(process: string, path: string): string {
  const { container, spec } = podOf(process);
  const mount = container.volumeMounts.find(({ mountPath }) => path.startsWith(`${mountPath}/`));
  const volume = spec.volumes.find(({ name }) => name === mount?.name);
  const name = path.slice((mount?.mountPath.length ?? 0) + 1);
  const configMap = BASE.configMapGenerator.find((one) => one.name === volume?.configMap?.name);
  const file = configMap?.files.find((one) => basename(one) === name);
  if (file !== undefined) return read(`${FOLDER}/base/${file}`);
  const { secretName = "", items } = volume?.secret ?? {};
  const key = items === undefined ? name : items.find((item) => item.path === name)?.key;
  const value = SECRETS.get(secretName)?.includes(key) ? VALUES[key ?? ""] : undefined;
  if (value === undefined) throw new Error(`no such file: ${path}`);
  return value;
}

function configOf(process: string) {
  const needs = { worker: ["compliance"], callbacks: ["callbacks"] } as const;
  return loadConfig({
    env: environmentOf(process),
    readFile: (path) => mountedFile(process, path),
    needs: process === "worker" || process === "callbacks" ? needs[process] : [],
    usesLedger: process !== "callbacks",
  });
}

const inMs = (seconds: number | undefined): number => (seconds ?? 0) * 1_000;
const portOf = (process: string, name: string): number | undefined =>
  podOf(process).container.ports.find((port) => port.name === name)?.containerPort;

test("the Kubernetes base carries the version of the product, and so do the names of what each version has", () => {
  const { version }: { version: string } = JSON.parse(read("package.json"));
  expect(BASE.images).toEqual([{ name: "fiscalflow", newTag: version }]);
  expect(VERSION.nameSuffix).toBe(`-${version.replaceAll(".", "-")}`);
  expect(VERSION.labels).toEqual([{ pairs: { "app.kubernetes.io/version": version }, includeSelectors: true }]);
  expect(VERSION.resources).toEqual(OF_A_VERSION);
  expect(BASE.resources.toSorted()).toEqual([...FILES, "version"].toSorted());
  const names = versioned.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  expect(names.toSorted()).toEqual([
    "Deployment fiscalflow-worker",
    "Job fiscalflow-setup",
    "PodDisruptionBudget fiscalflow-worker",
  ]);
});

test("Argo CD and Flux remove nothing that a version has, since it may serve beside the next one", () => {
  const kept = {
    "argocd.argoproj.io/sync-options": "Prune=false",
    "kustomize.toolkit.fluxcd.io/prune": "disabled",
  };
  for (const { kind, metadata } of versioned) expect(metadata.annotations, kind).toMatchObject(kept);
  expect(BASE.generatorOptions?.annotations).toEqual(kept);
});

test("each workload on Kubernetes runs a command of the product by the image's entry point", () => {
  const nothing = { write: () => true };
  const program = createProgram({
    env: {},
    stdin: process.stdin,
    stdout: nothing,
    stderr: nothing,
    signal: new AbortController().signal,
  });
  const commands = program.commands.map((command) => command.name());
  expect([...pods.keys()].toSorted()).toEqual(PROCESSES.toSorted());
  for (const [command, { container }] of pods) {
    expect(commands).toContain(command);
    expect(container).not.toHaveProperty("command");
    expect(container.image).toBe("fiscalflow");
  }
});

describe.each(PROCESSES)("the process %s on Kubernetes", (process) => {
  const { container, spec } = podOf(process);

  test("has a valid configuration, whose secrets are files that the documented Secrets hold", () => {
    const config = configOf(process);
    expect(config.unknownVariables).toEqual([]);
    expect(config.worker.deployment).toBe("fiscalflow");
    const url = process === "callbacks" ? undefined : VALUES["ledger-url"];
    expect(config.ledger.url?.reveal()).toBe(url);
    expect(config.callbacks?.secrets.map((secret) => secret.path)).not.toContain(undefined);
    expect(config.compliance.map(({ apiKey }) => apiKey.path)).not.toContain(undefined);
    // Nobody but setup acts as the owner of the ledger's tables.
    const owner = process === "setup" ? VALUES["ledger-owner-url"] : url;
    expect(config.ledger.ownerUrl?.reveal()).toBe(owner);
  });

  test("runs as the image's user, and may do no more than it needs", () => {
    expect(read("Dockerfile")).toMatch(/^USER node$/m);
    expect(spec.securityContext).toEqual({
      runAsNonRoot: true,
      // Of `node` in the official images.
      runAsUser: 1000,
      runAsGroup: 1000,
      fsGroup: 1000,
      seccompProfile: { type: "RuntimeDefault" },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    const account = ofKind("ServiceAccount").find(({ metadata }) => metadata.name === spec.serviceAccountName);
    expect(account).toMatchObject({ automountServiceAccountToken: false });
    expect(spec.automountServiceAccountToken).toBe(false);
    expect(spec.enableServiceLinks).toBe(false);
  });

  test("runs on nodes that the published image is built for, by a job that builds for its own machine", () => {
    const job = {
      "runs-on": z.literal("ubuntu-24.04"),
      steps: z.array(z.looseObject({ with: z.looseObject({}).optional() })),
    };
    const { jobs } = z
      .object({ jobs: z.object({ image: z.object(job) }) })
      .parse(parse(read(".github/workflows/release.yml")));
    expect(jobs.image.steps.filter(({ with: given = {} }) => "platforms" in given)).toEqual([]);
    expect(spec.nodeSelector).toEqual({ "kubernetes.io/arch": "amd64" });
  });

  test("has the ports that the settings name", () => {
    const { healthPort, metricsPort, monitoringHost, callbacks } = configOf(process);
    const expected = {
      worker: { health: healthPort, metrics: metricsPort },
      callbacks: { http: callbacks?.port, metrics: metricsPort },
      setup: {},
    }[process];
    const ports = Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, containerPort]));
    expect(ports).toEqual(expected);
    expect([monitoringHost, callbacks?.host]).toEqual(["0.0.0.0", "0.0.0.0"]);
    const scraped = process === "setup" ? undefined : String(metricsPort);
    expect(podOf(process).annotations["prometheus.io/port"]).toBe(scraped);
  });
});

test("every variable of the ConfigMaps is a setting of the product", () => {
  const known = configReference.flatMap(({ variable }) => variable.split(", "));
  const files = [read(`${FOLDER}/base/settings.env`), read(`${FOLDER}/example/settings.env`)];
  const names = files.flatMap((text) => Object.keys(parseEnv(text)));
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter((name) => !known.includes(name))).toEqual([]);
});

test("Kubernetes gives a worker more time to stop than its drain takes", () => {
  const { callTimeoutMs } = configOf("worker").timings;
  const graceMs = inMs(podOf("worker").spec.terminationGracePeriodSeconds);
  expect(graceMs).toBeGreaterThan(POLL_LASTS_MS + callTimeoutMs + GRACE_BEYOND_CALL_MS);
});

test("Kubernetes gives the receiver more time to stop than passing on what is due takes", () => {
  const { container, spec } = podOf("callbacks");
  const [, pause] = container.lifecycle?.preStop.exec.command ?? [];
  // A signal under way, and behind it the one that is due.
  const closesWithinMs = HEADERS_MS + 2 * SIGNAL_MS;
  expect(inMs(spec.terminationGracePeriodSeconds)).toBeGreaterThan(inMs(Number(pause)) + closesWithinMs);
});

test.each([
  { process: "worker", port: "health", answersWithinMs: READINESS_CALL_MS },
  { process: "callbacks", port: "http", answersWithinMs: CHECK_MS },
])("the probes of $process ask what the process answers, and wait for it", async ({ process, port, ...given }) => {
  const { startupProbe, livenessProbe, readinessProbe } = podOf(process).container;
  const probes = [startupProbe, livenessProbe, readinessProbe];
  const urlOf = {
    worker: async () => {
      const server = await startHealthServer({ host: "127.0.0.1", port: 0 }, () => Promise.resolve({ ready: true }));
      onTestFinished(() => server.close());
      return `http://127.0.0.1:${server.port}`;
    },
    callbacks: async () => (await listen(new Surroundings().options())).url,
  }[process];
  const url = await urlOf?.();
  for (const probe of probes) {
    expect(probe?.httpGet.port).toBe(port);
    expect((await fetch(`${url}${probe?.httpGet.path}`)).status).toBe(200);
  }
  expect(probes.map((probe) => probe?.httpGet.path)).toEqual(["/healthz", "/healthz", "/readyz"]);
  expect(inMs(readinessProbe?.timeoutSeconds)).toBeGreaterThan(given.answersWithinMs);
  // A process that is only busy is not killed.
  const { failureThreshold = 0, periodSeconds = 0 } = livenessProbe ?? {};
  expect(failureThreshold * periodSeconds).toBeGreaterThanOrEqual(120);
});

test("a worker's memory on Kubernetes holds the workflows that it caches", () => {
  const measured = read("docs/performance.md");
  const [, idle] = /\| memory of an idle worker[^|]*\| (\d+) MB/.exec(measured) ?? [];
  const [, each] = /\| memory of each sale in the cache \| ([\d.]+) MB/.exec(measured) ?? [];
  const neededMb = Number(idle) + Number(each) * configOf("worker").worker.cachedWorkflows;
  expect(neededMb).toBeGreaterThan(0);
  expect(podOf("worker").container.resources.limits.memory).toMatch(/^\d+Gi$/);
  expect(Number.parseInt(podOf("worker").container.resources.limits.memory, 10) * 1_024).toBeGreaterThan(neededMb);
});

test("on Kubernetes, each process reaches what it needs, and nothing else", () => {
  const allowed = (process: string, direction: "ingress" | "egress") => {
    const rules = policies
      .filter(({ podSelector }) => matches(podSelector.matchLabels, podOf(process).labels))
      .flatMap((policy) => policy[direction]);
    const ports = rules.flatMap((rule) => rule.ports.map(({ port }) => port));
    // A named port of a pod that has none of the name admits nobody.
    const numbers = ports.map((port) => (typeof port === "number" ? port : portOf(process, port)));
    return [...new Set(numbers.filter((port) => port !== undefined))].toSorted((one, other) => one - other);
  };
  const { callbacks, metricsPort } = configOf("callbacks");
  const temporal = Number(environmentOf("worker")["TEMPORAL_ADDRESS"]?.split(":")[1]);
  const [ledger, https, dns] = [5432, 443, 53];
  expect(allowed("worker", "egress")).toEqual([dns, https, ledger, temporal]);
  expect(allowed("setup", "egress")).toEqual([dns, ledger, temporal]);
  expect(allowed("callbacks", "egress")).toEqual([dns, temporal]);
  expect(allowed("worker", "ingress")).toEqual([metricsPort]);
  expect(allowed("setup", "ingress")).toEqual([]);
  expect(allowed("callbacks", "ingress")).toEqual([callbacks?.port, metricsPort]);
});

test("on Kubernetes, all that no policy names is refused, and metrics are for the namespaces with a label", () => {
  const [deny] = policies.filter(({ ingress, egress }) => ingress.length + egress.length === 0);
  expect(deny?.policyTypes).toEqual(["Ingress", "Egress"]);
  expect(selectedBy(deny?.podSelector.matchLabels ?? {})).toEqual(PROCESSES);
  const metrics = policies.flatMap(({ ingress }) => ingress.filter(({ ports }) => ports[0]?.port === "metrics"));
  expect(metrics.map(({ from }) => from)).toEqual([
    [{ namespaceSelector: { matchLabels: { "fiscalflow-metrics": "allowed" } } }],
  ]);
});

test("every selector on Kubernetes finds the pods that it is for", () => {
  const serviceSchema = z.object({
    spec: z.object({ selector: labels, ports: z.array(z.object({ targetPort: z.string() })) }),
  });
  const [service] = ofKind("Service").map((one) => serviceSchema.parse(one).spec);
  expect(selectedBy(service?.selector ?? {})).toEqual(["callbacks"]);
  expect(service?.ports.map(({ targetPort }) => portOf("callbacks", targetPort))).toEqual([
    portOf("callbacks", "http"),
  ]);
  const budgetSchema = z.object({ spec: z.looseObject({ selector }) });
  const kept = ofKind("PodDisruptionBudget").map((one) => budgetSchema.parse(one).spec.selector.matchLabels);
  expect(kept.flatMap(selectedBy).toSorted()).toEqual(["callbacks", "worker"]);
  for (const one of ofKind("Deployment")) {
    const { selector: own, template } = workloadSchema.parse(one).spec;
    expect(matches(own?.matchLabels ?? {}, template.metadata.labels)).toBe(true);
  }
  for (const { podSelector } of policies) expect(selectedBy(podSelector.matchLabels)).not.toEqual([]);
});

test("the receiver on Kubernetes, which strangers reach, has no login of the ledger", () => {
  const { volumes } = podOf("callbacks").spec;
  const mounted = volumes.flatMap(({ secret }) => (secret ? [secret] : []));
  expect(mounted).toMatchObject([{ secretName: "fiscalflow" }]);
  expect(mounted[0]?.items?.map(({ key }) => key)).toEqual(["compliance-api-key", "callback-secret"]);
  // Where docs/kubernetes.md has further keys added.
  const [, place] = /path: (\/spec\/template\/spec\/volumes\S*\/-),/.exec(read("docs/kubernetes.md")) ?? [];
  expect(place).toBe(
    `/spec/template/spec/volumes/${volumes.findIndex(({ name }) => name === "secrets")}/secret/items/-`,
  );
});

test("erasing on Kubernetes is done by the Job of setup, which has the owner's login and reaches the ledger", async () => {
  const patched = z.object({ patches: z.tuple([z.looseObject({ target: labels, patch: z.string() })]) });
  const [{ target, patch }] = patched.parse(parse(read(`${FOLDER}/erasure/kustomization.yaml`))).patches;
  const [, name, wanted] = /^(\S+)=(\S+)$/.exec(target["labelSelector"] ?? "") ?? [];
  expect(ofKind(target["kind"] ?? "").map(({ metadata }) => metadata["labels"])).toMatchObject([
    { [name ?? ""]: wanted },
  ]);
  const operations = z.array(z.object({ op: z.string(), path: z.string(), value: z.unknown() })).parse(parse(patch));
  const given = new Map(operations.map(({ path, value }) => [path.replace(/^\/spec\/template\/spec\//, ""), value]));
  // Neither the pod's labels, by which policies find it, nor its volumes of before.
  expect([...given.keys()].toSorted()).toEqual([
    "/metadata/labels/app.kubernetes.io~1component",
    "/metadata/name",
    "/spec/backoffLimit",
    "containers/0/args",
    "containers/0/volumeMounts/-",
    "volumes/-",
  ]);
  const [claim] = objectsIn(`${FOLDER}/erasure/volume.yaml`);
  expect(given.get("volumes/-")).toEqual({
    name: "erasures",
    persistentVolumeClaim: { claimName: claim?.metadata.name },
  });
  expect(given.get("containers/0/volumeMounts/-")).toEqual({ name: "erasures", mountPath: "/erasures" });
  const args = z.array(z.string()).parse(given.get("containers/0/args"));
  expect(args[args.indexOf("--erasures") + 1]).toMatch(/^\/erasures\//);
  // Who copies the folder as it is erases nothing.
  expect(args).toContain("--dry-run");
  // The command understands them: it looks for the database.
  const env = { FISCALFLOW_HOME: "/nonexistent" };
  expect(await callCli(args, { env })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/^There is no ledger/),
  });
});

test("no Secret is part of the manifests, and the example takes the image by its digest", () => {
  expect(ofKind("Secret")).toEqual([]);
  expect(BASE).not.toHaveProperty("secretGenerator");
  expect(EXAMPLE).not.toHaveProperty("secretGenerator");
  expect(new Set([...SECRETS.values()].flat())).toEqual(new Set(Object.keys(VALUES)));
  expect(EXAMPLE.resources).toEqual(["../base"]);
  expect(EXAMPLE.images).toEqual([
    { name: "fiscalflow", newName: expect.any(String), digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
  ]);
});
