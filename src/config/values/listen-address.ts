/** Reads and writes listen addresses: `127.0.0.1:8080`, `[::]:25`, `tls://0.0.0.0:465`. */
import { BlockList, isIP } from 'node:net'
import type { ListenAddress } from '../config.ts'

const MAX_PORT = 65_535
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const HOST_NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`)

/** Port 0 means any free port. Undefined when `text` is not a listen address. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const isTls = text.startsWith('tls://')
  const address = parseHostAndPort(isTls ? text.slice('tls://'.length) : text)
  return address && { ...address, isTls }
}

export function formatListenAddress({ host, port, isTls }: ListenAddress): string {
  return `${isTls ? 'tls://' : ''}${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** `host:port` with an IPv6 host in brackets; host names in lower case. */
function parseHostAndPort(text: string): { host: string; port: number } | undefined {
  const [, ipv6, other = '', digits] = /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  const port = Number(digits)
  if (digits === undefined || port > MAX_PORT) return undefined
  if (ipv6 !== undefined) return isIP(ipv6) === 6 ? { host: ipv6, port } : undefined
  const host = other.toLowerCase()
  return isIP(host) === 4 || isHostName(host) ? { host, port } : undefined
}

/**
 * Whether `text` is a host name in lower case with one or more labels (RFC 1123 section 2.1). A last
 * label of digits is refused, because other programs read such names as addresses.
 */
export function isHostName(text: string): boolean {
  return text.length <= 253 && HOST_NAME.test(text) && !/(?:^|\.)\d+$/.test(text)
}

/** Whether `host`, an address or a name, is reachable from this machine only. */
export function isLoopbackHost(host: string): boolean {
  const family = isIP(host)
  if (family === 0) return host === 'localhost' || host.endsWith('.localhost')
  const loopback = new BlockList()
  loopback.addSubnet('127.0.0.0', 8, 'ipv4')
  loopback.addAddress('::1', 'ipv6')
  return loopback.check(host, family === 6 ? 'ipv6' : 'ipv4')
}
