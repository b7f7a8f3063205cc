/** The configurations of the campaign benchmark: delivery to the receivers, or to nobody. */
import { directConfiguration } from '../mail/direct.ts'

/** Who was deferred is tried again soon, so that a run ends. */
const RETRIES = 'retry_schedule = ["2s", "5s"]'
/** Links of a real message are https, and unsubscribing with one click needs it. */
const BASE_URL = 'base_url = "https://mail.example.test"'

/** The links of the benchmark's mail are signed with keys that follow from it. */
export const BENCH_SECRET = 'a secret of the benchmark of campaigns'
/** The receivers refuse more than a new project may send. */
const PATIENT = '\n[security]\nauto_disable = false\n'
const FIRST_LINES = `secret = "${BENCH_SECRET}"\n${BASE_URL}\n`

export function campaignConfiguration(sinkPort: number, dnsAddress: string): string {
  const direct = directConfiguration(sinkPort, dnsAddress)
  return FIRST_LINES + direct.replace('[delivery]', `[delivery]\n${RETRIES}`) + PATIENT
}

/** A smarthost that refuses every connection: all mail waits, and nothing is tried. */
export function heldConfiguration(deadPort: number): string {
  return `${FIRST_LINES}
[http]
listen = "127.0.0.1:0"
[delivery]
mode = "relay"
hostname = "bench.example.test"
[delivery.relay]
host = "127.0.0.1"
port = ${deadPort}
tls = "none"
[campaigns]
rows_ahead = 0
[limits]
api_requests_per_minute = 0
[log]
level = "error"
`
}
