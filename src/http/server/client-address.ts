/**
 * Whose request it is. `X-Forwarded-For` counts only as far as the proxies that wrote it are
 * trusted (`http.trusted_proxies`), read from the nearest one outwards: what stands further left
 * was written by strangers.
 */
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

export type AddressList = { has(address: string | null): boolean }

/** Addresses and networks as the configuration has them: `10.0.0.1`, `fd00::/8`, `loopback`. */
export function createAddressList(entries: readonly string[]): AddressList {
  const list = new BlockList()
  for (const entry of entries.flatMap(namedNetwork)) {
    const [address = '', bits] = entry.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  if (entries.length === 0) return { has: () => false }
  return {
    has: (address) => {
      if (address === null) return false
      return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
    },
  }
}

export function clientAddress(incoming: IncomingMessage, proxies: AddressList): string | null {
  const peer = plainAddress(incoming.socket.remoteAddress)
  if (!proxies.has(peer)) return peer
  const forwarded = String(incoming.headers['x-forwarded-for'] ?? '').split(',')
  let nearest = peer
  for (const hop of forwarded.reverse()) {
    const address = plainAddress(hop.trim())
    if (address === null) return nearest
    nearest = address
    if (!proxies.has(address)) return address
  }
  return nearest
}

/**
 * Who shares a bound with an address: an IPv4 address has its own, of IPv6 addresses a whole /64 is
 * somebody's (RFC 6177).
 */
export function addressGroup(address: string | null | undefined): string {
  const plain = plainAddress(address ?? undefined)
  if (plain === null) return ''
  if (isIP(plain) === 4) return plain
  const [head = '', tail] = plain.replace(/%.*$/, '').split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - front.length - back.length
  const all = [...front, ...new Array<string>(Math.max(0, zeros)).fill('0'), ...back]
  const network = all.slice(0, 4).map((part) => Number.parseInt(part, 16).toString(16))
  return `${network.join(':')}::/64`
}

/**
 * Whether the address is the caller's own: a proxy that nobody declared makes all the world look
 * like the machine it runs on, and only its headers give it away.
 */
export function isDirect(incoming: IncomingMessage, proxies: AddressList): boolean {
  const { headers, socket } = incoming
  if (proxies.has(plainAddress(socket.remoteAddress))) return true
  return headers['x-forwarded-for'] === undefined && headers.forwarded === undefined
}

/** Without an IPv6 wrapping, port or brackets; null when it is no address. */
export function plainAddress(text: string | undefined): string | null {
  const bare = (text ?? '').replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1')
  const plain = bare.replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(plain) === 0 ? null : plain
}

function namedNetwork(entry: string): string[] {
  return entry === 'loopback' ? ['127.0.0.0/8', '::1'] : [entry]
}
