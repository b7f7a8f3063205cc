/** What the operator has to set up around a new server: DNS records of its own, and ports. */
import type { Config } from '../../config/config.ts'
import { isLoopbackHost } from '../../config/values/listen-address.ts'
import { formatTable } from '../engine/text.ts'

type Server = Pick<Config, 'delivery' | 'inbound' | 'submission' | 'http' | 'acme' | 'baseUrl'>

/** Empty in sandbox mode, which sends nothing. */
export function describeServer(config: Server): string[] {
  if (config.delivery.mode === 'sandbox') return []
  return [...describeRecords(config), '', ...describePorts(config)]
}

export type ServerRecord = { name: string; type: string; value: string }

export function listServerRecords({ delivery, inbound }: Server): ServerRecord[] {
  const { hostname, returnPathDomain, mode } = delivery
  const address = { name: hostname, type: 'A', value: 'the IPv4 address of this machine' }
  if (mode === 'relay' && inbound.listen.length === 0) return [address]
  return [
    address,
    { name: hostname, type: 'AAAA', value: 'its IPv6 address, if it sends from one' },
    { name: 'each address', type: 'PTR', value: hostname },
    { name: hostname, type: 'TXT', value: 'v=spf1 a -all' },
    { name: returnPathDomain, type: 'MX', value: `10 ${hostname}` },
    { name: returnPathDomain, type: 'TXT', value: `v=spf1 a:${hostname} -all` },
  ]
}

function describeRecords(config: Server): string[] {
  const rows = listServerRecords(config).map(({ name, type, value }) => [name, type, value])
  return [
    'DNS records of the server (the provider of the machine sets PTR):',
    '',
    formatTable(['NAME', 'TYPE', 'VALUE'], rows, ''),
  ]
}

function describePorts({ delivery, inbound, submission, http, acme, baseUrl }: Server): string[] {
  const web = new URL(baseUrl)
  // The base_url that nobody has set says nothing about the way to the server.
  const webPort = isLoopbackHost(web.hostname)
    ? String(http.listen.port)
    : web.port || (web.protocol === 'https:' ? '443' : '80')
  const incoming = [
    webPort,
    ...[...(acme?.listen ?? []), ...inbound.listen, ...submission.listen].map(({ port }) => port),
  ]
  const outgoing = [
    `${delivery.relay?.port ?? delivery.port} (mail)`,
    '53 (DNS)',
    ...(acme === null ? [] : [`${new URL(acme.directoryUrl).port || '443'} (certificates)`]),
  ]
  const lines = [
    `Ports to open: in ${[...new Set(incoming.map(String))].join(', ')}; out ${outgoing.join(', ')}.`,
  ]
  if (web.protocol === 'https:' && String(http.listen.port) !== webPort) {
    lines.push(
      `HTTP listens at ${http.listen.host}:${http.listen.port}: serve ${baseUrl} with a proxy, or set http.listen and a certificate.`,
    )
  }
  return lines
}
