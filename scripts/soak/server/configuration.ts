/** The configuration of the server under test. Delays are short, so that a run sees their ends. */

export type Ports = { http: number; inbound: number; submission: number; mx: number }

/** Mail of workflows is given up after this time; other mail outlives a run. */
export const WORKFLOW_GIVE_UP_MS = 60_000
export const HOSTNAME = 'mail.example.test'

/** Reputation limits are off: the run makes many bounces and complaints on purpose. */
export function writeConfiguration(ports: Ports, dnsAddress: string): string {
  return `
base_url = "http://127.0.0.1:${ports.http}"
[http]
listen = "127.0.0.1:${ports.http}"
[delivery]
mode = "direct"
hostname = "${HOSTNAME}"
port = ${ports.mx}
allow_private_networks = true
retry_schedule = ["1s", "2s", "4s"]
fuse_per_minute = 0
give_up_after.workflow = "${WORKFLOW_GIVE_UP_MS / 1_000}s"
[dns]
servers = ["${dnsAddress}"]
[inbound]
listen = ["127.0.0.1:${ports.inbound}"]
[submission]
listen = ["127.0.0.1:${ports.submission}"]
[limits]
api_requests_per_minute = 0
[campaigns]
rows_ahead = 200
brake_hard_bounces = 0
brake_refusals = 0
brake_complaints = 0
[webhooks]
allow_private_networks = true
[security]
auto_disable = false
`
}
