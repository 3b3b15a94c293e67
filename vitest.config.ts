import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // Most suites wait for servers, not for the processor, and the default leaves one of two cores idle.
    maxWorkers: 3,
    reporters: process.env["CI"] ? ["default", "json"] : ["default"],
    outputFile: { json: "test-results/vitest.json" },
    projects: [
      {
        test: {
          name: "unit",
          include: ["{src,activities,workflows}/**/*.test.ts"],
          globalSetup: ["src/ledger/test-support/home-of-run.ts"],
          testTimeout: 20_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "system",
          include: ["test/**/*.test.ts"],
          exclude: ["test/scale/**"],
          globalSetup: ["test/rig/global-setup.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "scale",
          include: ["test/scale/**/*.test.ts"],
          globalSetup: ["test/rig/global-setup.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          // Many rows and whole windows: each wants a core, and the others not to wait for it.
          sequence: { groupOrder: 1 },
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: "faults",
          include: ["test/faults/**/*.faults.ts"],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          // Each brings up servers of its own and wants the machine for itself.
          fileParallelism: false,
        },
      },
    ],
  },
});
