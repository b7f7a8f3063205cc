/** A measured server with everything around it that its operations need. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Database from 'better-sqlite3'
import { type DnsZone, startDnsServer } from '../../../test/fakes/dns-server.ts'
import { startSink } from '../../../test/fakes/smtp-sink.ts'
import { type Api, createApi } from '../api.ts'
import { type LoadResult, makeProject, runLoad } from '../mail/sender.ts'
import { createBench, type Running } from '../server.ts'

export const HOSTNAME = 'bench.example.test'
export const SECRET = 'the secret of the benchmark of costs, long enough'
const PATIENCE_MS = 120_000
const LOOK_MS = 50

const zone: DnsZone = {
  'example.net': { MX: [[10, 'mx.example.net']] },
  'mx.example.net': { A: ['127.0.0.1'] },
}

export type Subject = {
  server: Running
  secret: string
  api: Api
  database: Database.Database
  /** Messages that the receiver has taken. */
  delivered(): number
  webhookUrl: string
  /** Webhooks that were answered. */
  hooked(): number
  /** Numbers that no earlier request of the subject had. */
  take(count: number): number
  post(request: { path?: string; body: object; requests: number }): Promise<LoadResult>
  /** Resolves when `count()` is at least so much. */
  until(count: () => number, wanted: number): Promise<void>
  number(query: string): number
  remove(): Promise<void>
}

/** `program`: another executable than the one that was built. Mail to example.org is held. */
export async function startSubject(program?: string): Promise<Subject> {
  const sink = await startSink({ forgets: true, host: '127.0.0.1' })
  const dns = await startDnsServer(zone)
  const hook = await startHook()
  const bench = createBench(configuration(sink.port, dns.address), program)
  const secret = await makeProject(bench)
  await bench.command('queue', 'hold', '--domain', 'example.org')
  const server = await bench.serve()
  const api = createApi({ url: server.url, secret })
  const database = new Database(bench.database)
  database.pragma('busy_timeout = 10000')
  let next = 0
  const take = (count: number) => {
    next += count
    return next - count
  }
  return {
    ...{ server, secret, api, database, take },
    ...{ delivered: sink.acceptedCount, webhookUrl: hook.url, hooked: hook.count },
    async post({ path, body, requests }) {
      const load = { url: server.url, secret, connections: 50, requests, from: take(requests) }
      const made = { ...load, ...(path !== undefined && { path }), body: JSON.stringify(body) }
      const result = await runLoad(made)
      if (result.refused > 0) throw new Error(`${result.refused} requests were refused`)
      return result
    },
    async until(count, wanted) {
      const endsAt = performance.now() + PATIENCE_MS
      while (count() < wanted) {
        if (performance.now() > endsAt) throw new Error(`${count()} of ${wanted}`)
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
      }
    },
    number: (query) => Number(database.prepare(query).pluck().get()),
    async remove() {
      api.close()
      database.close()
      await server.stop()
      await Promise.all([sink.stop(), dns.stop(), hook.stop()])
      bench.remove()
    },
  }
}

async function startHook() {
  let count = 0
  const hook = createServer((request, response) => {
    request.resume().on('end', () => {
      count += 1
      response.end('ok')
    })
  })
  hook.listen(0, '127.0.0.1')
  await once(hook, 'listening')
  return {
    url: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`,
    count: () => count,
    async stop() {
      hook.closeAllConnections()
      hook.close()
    },
  }
}

function configuration(sinkPort: number, dnsAddress: string): string {
  return `
secret = "${SECRET}"
[http]
listen = "127.0.0.1:0"
[delivery]
mode = "direct"
hostname = "${HOSTNAME}"
port = ${sinkPort}
allow_private_networks = true
[dns]
servers = ["${dnsAddress}"]
[inbound]
listen = ["127.0.0.1:0"]
[security]
auto_disable = false
[webhooks]
allow_private_networks = true
[limits]
api_requests_per_minute = 0
[log]
level = "error"
`
}
