/**
 * Finds the address of the client. `X-Forwarded-For` is read from right to left, as long as the
 * addresses are those of trusted proxies (`http.trusted_proxies`): anyone can write the entries
 * further left.
 */
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, type Socket } from 'node:net'

export type AddressList = { has(address: string | null): boolean }

/** `entries` are addresses and networks in the configuration's form: `10.0.0.1`, `fd00::/8`, `loopback`. */
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

/** The addresses of the peers of open connections; a connection keeps its peer. */
const peers = new WeakMap<Socket, string>()

function peerAddress(socket: Socket): string | null {
  const known = peers.get(socket)
  if (known !== undefined) return known
  const address = plainAddress(socket.remoteAddress)
  if (address !== null) peers.set(socket, address)
  return address
}

export function clientAddress(incoming: IncomingMessage, proxies: AddressList): string | null {
  const peer = peerAddress(incoming.socket)
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
 * The name of the group whose limits an address shares: an IPv4 address is its own group, IPv6
 * addresses are grouped by /64, which one client usually has (RFC 6177).
 */
export function addressGroup(address: string | null | undefined): string {
  const plain = plainAddress(address ?? undefined)
  if (plain === null) return ''
  if (isIP(plain) === 4) return plain
  return `${groupsOf(plain).slice(0, 4).join(':')}::/64`
}

/**
 * The name of the network of an address: IPv4 /24, IPv6 /48. A client that has one address of such
 * a network can often use many addresses of it.
 */
export function addressNetwork(address: string | null | undefined): string {
  const plain = plainAddress(address ?? undefined)
  if (plain === null) return ''
  if (isIP(plain) === 4) return `${plain.split('.').slice(0, 3).join('.')}.0/24`
  return `${groupsOf(plain).slice(0, 3).join(':')}::/48`
}

/** The eight groups of an IPv6 address, without leading zeros. */
function groupsOf(plain: string): string[] {
  const [head = '', tail] = plain.replace(/%.*/, '').split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - front.length - back.length
  const all = [...front, ...new Array<string>(Math.max(0, zeros)).fill('0'), ...back]
  return all.map((part) => Number.parseInt(part, 16).toString(16))
}

/**
 * Whether the client's address can be trusted. Behind a proxy that is not in the configuration all
 * clients have the proxy's address, and only the headers of the proxy reveal the proxy.
 */
export function isDirect(incoming: IncomingMessage, proxies: AddressList): boolean {
  const { headers, socket } = incoming
  if (proxies.has(plainAddress(socket.remoteAddress))) return true
  return headers['x-forwarded-for'] === undefined && headers.forwarded === undefined
}

/** The address without IPv6 mapping, port and brackets; null if the text is not an address. */
export function plainAddress(text: string | undefined): string | null {
  const bare = (text ?? '').replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1')
  const plain = bare.replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(plain) === 0 ? null : plain
}

function namedNetwork(entry: string): string[] {
  return entry === 'loopback' ? ['127.0.0.0/8', '::1'] : [entry]
}
