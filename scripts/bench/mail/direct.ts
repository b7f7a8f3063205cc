/**
 * Mail of 5 KB that the measured program delivers in direct mode to a sink: its configuration, the
 * JSON of a message, and the wait for the last delivery.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { DnsZone } from '../../../test/fakes/dns-server.ts'
import { prose } from './sender.ts'

/** With this body, the message on the wire (text and HTML) has about 5 KB. */
const HTML_BYTES = 2_300
export const WIRE_BYTES = 5_500

/** The DNS of the benchmarks. */
export const zone: DnsZone = {
  'example.org': { MX: [[10, 'mx.example.org']] },
  'example.net': { MX: [[10, 'mx.example.org']] },
  'mx.example.org': { A: ['127.0.0.1'] },
}

export function directConfiguration(sinkPort: number, dnsAddress: string): string {
  return `
[http]
listen = "127.0.0.1:0"
[delivery]
mode = "direct"
hostname = "bench.example.test"
port = ${sinkPort}
allow_private_networks = true
[dns]
servers = ["${dnsAddress}"]
[limits]
api_requests_per_minute = 0
[log]
level = "warn"
`
}

/** The body of POST /v1/send, in which `@@` becomes the number of the request. */
export function makeMessage(to: string): string {
  return JSON.stringify({
    to,
    from: 'shop@example.test',
    subject: 'Your order {{ order }}',
    body: prose(HTML_BYTES),
    data: { name: 'Ada @@', order: '@@', city: 'Zürich' },
  })
}

/** A trusted domain signs with both keys; a domain verified by its RSA key signs with that key only. */
export function verifyInsteadOfTrust(database: string): void {
  const db = new Database(database)
  db.prepare(
    "UPDATE domains SET is_verified = 1, is_trusted = 0, status = 'Success', checked_at = ?",
  ).run(Date.now() + 3_600_000)
  db.close()
}

/** Waits until so many messages to example.org are delivered. The time of the last in epoch ms. */
export async function waitForDelivery(database: string, messages: number): Promise<number> {
  const db = new Database(database, { readonly: true })
  const delivered = db.prepare<[], { count: number; lastAt: number }>(
    "SELECT count(*) AS count, max(delivered_at) AS lastAt FROM emails WHERE state = 'delivered' AND recipient_domain = 'example.org'",
  )
  for (;;) {
    const row = delivered.get()
    if (row?.count === messages) {
      db.close()
      return row.lastAt
    }
    await sleep(250)
  }
}
