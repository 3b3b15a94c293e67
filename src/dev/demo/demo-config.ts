import { type Config, type Environment, loadConfig } from "../../config/index.ts";
import type { DemoPlan } from "./demo-plan.ts";

interface Surroundings {
  plan: Pick<DemoPlan, "apiKey" | "businessId" | "accounting">;
  simulatorUrl: string;
  accountingUrl: string;
  receiverUrl: string;
  callbackSecret: string;
  /** Where the product may keep files while the demo runs. */
  folder: string;
  /** Overrides of both dialects; default: none. */
  dialects?: Dialects | undefined;
}

export interface Dialects {
  readonly compliance: unknown;
  readonly accounting: unknown;
}

/** Short enough to be watched, in the proportions of the real ones. */
const TIMINGS: Environment = {
  FISCALFLOW_TIMING_CALL_TIMEOUT_MS: "5000",
  FISCALFLOW_TIMING_FIRST_POLL_MS: "2000",
  FISCALFLOW_TIMING_FIRST_POLL_WITH_CALLBACK_MS: "20000",
  FISCALFLOW_TIMING_LONGEST_POLL_MS: "3000",
  FISCALFLOW_TIMING_LONGEST_POLL_AFTER_DAY_MS: "3000",
  // Leads to resubmissions after 2, 6 and 18 seconds.
  FISCALFLOW_TIMING_RESUBMISSION_WINDOW_MS: "32500",
};

/**
 * What other commands need to reach the demo's services: the part of the demo's environment that is printed for people.
 */
export function demoEnvironment(around: Surroundings): Environment {
  const { plan, simulatorUrl, accountingUrl, receiverUrl, callbackSecret, folder, dialects } = around;
  const { apiKey, clientSecret } = plan.accounting;
  return {
    COMPLIANCE_BASE_URL: simulatorUrl,
    COMPLIANCE_API_KEY: plan.apiKey,
    COMPLIANCE_BUSINESS_ID: plan.businessId,
    COMPLIANCE_APPLICATION: "demo",
    ACCOUNTING_BASE_URL: accountingUrl,
    ACCOUNTING_API_KEY: apiKey,
    ...(clientSecret !== undefined && { ACCOUNTING_CLIENT_SECRET: clientSecret }),
    CALLBACK_PUBLIC_URL: receiverUrl,
    CALLBACK_SECRETS: callbackSecret,
    CALLBACK_ALLOW_LOOPBACK: "1",
    FISCALFLOW_HOME: folder,
    ...(dialects !== undefined && {
      COMPLIANCE_DIALECT: JSON.stringify(dialects.compliance),
      ACCOUNTING_DIALECT: JSON.stringify(dialects.accounting),
    }),
  };
}

/** The configuration of the demo, from what it brought up alone: the user's own settings point at real services. */
export function demoConfig(around: Surroundings): Config {
  const env: Environment = { ...demoEnvironment(around), ...TIMINGS };
  return loadConfig({ env, needs: ["compliance", "accounting", "callbacks"] });
}
