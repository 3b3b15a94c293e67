import type { MetricMeter } from "@temporalio/common";

/** A meter whose gauges tell what they are set to. */
export function gaugesInto(
  set: (name: string, value: number, labels?: object) => unknown,
): Pick<MetricMeter, "createGauge"> {
  return {
    createGauge(name) {
      const gauge = {
        set: (value: number, labels?: object) => void set(name, value, labels),
        withTags: () => gauge,
        name,
        kind: "gauge",
        valueType: "int",
      } as const;
      return gauge;
    },
  };
}
