/** The dev server was found, and did not come up. The message carries the last lines that it wrote. */
export class DevServerError extends Error {
  override readonly name = "DevServerError";
  readonly code = "DEV_SERVER_START_FAILED";

  constructor(problem: string, output: string, options?: ErrorOptions) {
    super(output === "" ? problem : `${problem}\nIts last lines:\n${output}`, options);
  }
}
