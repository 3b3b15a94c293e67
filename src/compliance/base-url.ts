import { ComplianceConfigurationError } from "./errors.ts";

/**
 * The address in front of `/v1`, without a slash at its end.
 *
 * @throws ComplianceConfigurationError never quoting the address, which may hold credentials
 */
export function parseBaseUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const problem =
    url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")
      ? "must be an absolute http or https URL"
      : url.username !== "" || url.password !== ""
        ? "must not hold credentials"
        : url.search !== "" || url.hash !== ""
          ? "must not hold a query or a fragment"
          : undefined;
  if (url !== undefined && problem === undefined) return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  throw new ComplianceConfigurationError("invalid-base-url", [`the base URL of the Compliance API ${problem}`]);
}
