import { expect, it } from "vitest";
import { type DevServerSettings, devServerArguments } from "./dev-server-arguments.ts";

const settings: DevServerSettings = {
  port: 7000,
  uiPort: null,
  namespaces: ["default"],
  dbFilename: undefined,
  searchAttributes: [],
  logLevel: "warn",
  dynamicConfig: {},
};

it("the development server runs without the UI when it has no port for it", () => {
  expect(devServerArguments(settings)).toContain("--headless");
  expect(devServerArguments({ ...settings, uiPort: 8000 }).join(" ")).toMatch(/^(?!.*--headless).*--ui-port 8000/);
});

it("the development server orders tasks by priority and fairness", () => {
  const line = devServerArguments(settings).join(" ");
  expect(line).toContain("--dynamic-config-value matching.useNewMatcher=true");
  expect(line).toContain("--dynamic-config-value matching.enableFairness=true");
  expect(line).toContain("--dynamic-config-value matching.numTaskqueueReadPartitions=1");
});

it("the development server dispatches new tasks at once, although it has one shard", () => {
  const line = devServerArguments(settings).join(" ");
  expect(line).toContain("--dynamic-config-value history.transferProcessorMaxPollRPS=1000");
  expect(line).toContain("--dynamic-config-value history.timerProcessorMaxPollRPS=1000");
});

it("the development server gets each namespace and each search attribute as arguments", () => {
  const line = devServerArguments({
    ...settings,
    namespaces: ["a", "b"],
    searchAttributes: ["FiscalStage", "FiscalInvoice"],
  }).join(" ");
  expect(line).toContain("--namespace a --namespace b");
  expect(line).toContain("--search-attribute FiscalStage=Keyword --search-attribute FiscalInvoice=Keyword");
});

it("the development server takes a caller's dynamic configuration, written as JSON", () => {
  const line = devServerArguments({
    ...settings,
    dynamicConfig: { "matching.enableFairness": false, "some.name": "x" },
  });
  expect(line).toContain("matching.enableFairness=false");
  expect(line).not.toContain("matching.enableFairness=true");
  expect(line).toContain('some.name="x"');
});
