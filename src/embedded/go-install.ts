import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { findOnPath } from "./find-on-path.ts";
import { runBounded } from "./run-bounded.ts";
import { TEMPORAL_CLI_VERSION } from "./versions.ts";

const PACKAGE = `github.com/temporalio/cli/cmd/temporal@v${TEMPORAL_CLI_VERSION}`;
/** Three minutes on two cores; a slow line and a slow laptop together may take several times as long. */
const BUILD_TIMEOUT_MS = 30 * 60_000;
const TELL_EVERY_MS = 5_000;

export interface GoInstall {
  /** Receives the executable `temporal`. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly onProgress: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Builds the Temporal CLI with the Go toolchain. Returns what went wrong. */
export async function goInstallTemporalCli({
  folder,
  env,
  onProgress,
  signal,
}: GoInstall): Promise<string | undefined> {
  const go = await findOnPath("go", env);
  if (go === undefined) return "no `go` on PATH";
  const startedAtMs = Date.now();
  const counts = { modules: 0, packages: 0 };
  onProgress(`building the Temporal CLI ${TEMPORAL_CLI_VERSION} with go, once, for about 3 minutes`);
  const tell = setInterval(() => {
    const seconds = Math.round((Date.now() - startedAtMs) / 1_000);
    onProgress(
      `building the Temporal CLI: ${seconds} s, ${counts.modules} modules downloaded, ${counts.packages} packages compiled`,
    );
  }, TELL_EVERY_MS);
  const temporaryFiles = join(folder, "go-tmp");
  await mkdir(temporaryFiles);
  try {
    // -v names each package as it is compiled. Without the symbol tables the executable is a third smaller.
    const version = `-X github.com/temporalio/cli/temporalcli.Version=${TEMPORAL_CLI_VERSION}`;
    const run = await runBounded(go, ["install", "-v", "-ldflags", `-s -w ${version}`, PACKAGE], {
      // Go's own temporary files lie in our folder, so that a killed build leaves none elsewhere. GOOS and GOARCH would
      // make go refuse GOBIN, and the executable is for this machine.
      env: { ...env, GOBIN: folder, GOTMPDIR: temporaryFiles, GOOS: undefined, GOARCH: undefined, GOFLAGS: undefined },
      cwd: folder,
      timeoutMs: BUILD_TIMEOUT_MS,
      signal,
      onLine: (line) => {
        if (line.startsWith("go: downloading")) counts.modules += 1;
        else if (!line.startsWith("go: ")) counts.packages += 1;
      },
    });
    return run.succeeded ? undefined : run.problem;
  } finally {
    clearInterval(tell);
    await rm(temporaryFiles, { recursive: true, force: true });
  }
}
