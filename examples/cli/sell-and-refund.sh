#!/usr/bin/env bash
# Starts a sale and waits for its receipt, answers what needs an operator, and refunds the sale: with Temporal's command
# line and jq. First: a worker, for example `npm run demo -- --keep` and the `export` lines that it prints. Then
#   ./sell-and-refund.sh CLI-1001
# If the workers have payload keys, run `fiscalflow codec` and set TEMPORAL_CODEC_ENDPOINT and TEMPORAL_CODEC_AUTH, as
# https://github.com/fiscalflow/fiscalflow/blob/main/docs/privacy.md#reading-it-in-temporals-ui says.
# Run again, it finds the same sale and the same credit note. What each call takes, and what is refused:
# https://github.com/fiscalflow/fiscalflow/blob/main/docs/clients.md
set -euo pipefail

number=${1:-CLI-1001}
business=biz_demo
# As encodeURIComponent does. Since jq 1.7, `@uri` escapes five characters more.
escaped() {
  jq -rn --arg part "$1" '$part | @uri | gsub("%21"; "!") | gsub("%27"; "\u0027") | gsub("%28"; "(") | gsub("%29"; ")") | gsub("%2A"; "*")'
}

# Prints the JSON that an update answers; fails where the workflow is closed, or refuses it.
update() { # id, name, JSON
  temporal workflow update execute -o json --workflow-id "$1" --name "$2" --input "$3" | jq -e .result
}

result_of() { temporal workflow result -o json --workflow-id "$1" | jq -e .result; }

is_closed() { [ "$(temporal workflow describe -o json --workflow-id "$1" | jq -r .workflowExecutionInfo.status)" != "WORKFLOW_EXECUTION_STATUS_RUNNING" ]; }

# One number is one sale, however often it is started.
sell() { # number, lines
  local id sale
  id=sale/default/$business/$(escaped "$1")
  sale=$(jq -n --arg number "$1" --arg business $business --argjson lines "$2" \
    '{businessId: $business, traderInvoiceNumber: $number, lines: $lines}')
  temporal workflow start -o json --type sale --task-queue fiscalflow --workflow-id "$id" \
    --id-reuse-policy RejectDuplicate --input "$sale" >/dev/null 2>"$errors" ||
    grep -qi "already" "$errors" || { cat "$errors" >&2; return 1; }
  # It may close between the look and the update.
  if ! is_closed "$id" && update "$id" outcome '{"waitSeconds":20}'; then return; fi
  is_closed "$id" && result_of "$id"
}

errors=$(mktemp)
trap 'rm -f "$errors"' EXIT

outcome=$(sell "$number" '[{"sku":"UNGA-2KG","quantity":1,"unitPrice":198}]')
jq -r --arg number "$number" '"\($number) is \(.stage): receipt \(.receipt.cuInvoiceNo // "not there yet")"' <<<"$outcome"

parked=$(sell "$number-X" '[{"sku":"NO-SUCH","quantity":1,"unitPrice":60}]')
if jq -e .attention <<<"$parked" >/dev/null; then
  jq -r --arg number "$number-X" '"\($number) needs an operator: \(.attention.code), \(.attention.message)"' <<<"$parked"
  update "sale/default/$business/$(escaped "$number-X")" cancel '{"reason":"rung up by mistake"}' | jq -r '"cancel: \(.message)"'
fi

# A sale that is closed is started again for it, by its number alone.
outcome=$(
  temporal workflow execute-update-with-start -o json --type sale --task-queue fiscalflow \
    --workflow-id "sale/default/$business/$(escaped "$number")" \
    --id-reuse-policy AllowDuplicate --id-conflict-policy UseExisting \
    --input "$(jq -n --arg number "$number" --arg business $business '{businessId: $business, traderInvoiceNumber: $number}')" \
    --update-name refund \
    --update-input "$(jq -n --arg number "CN-$number" '{reason: "06", traderInvoiceNumber: $number, restock: true}')" | jq -e .updateResult
)
jq -r --arg number "$number" \
  '"\($number) is \(.stage): credit note \(.creditNote.traderInvoiceNumber // "not there yet")"' <<<"$outcome"
