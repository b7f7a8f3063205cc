import ipaddr from 'ipaddr.js'

/** Returns the /24 of an IPv4 address or the /48 of an IPv6 address; other text unchanged. */
export function clientNetworkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  const bits = parsed.kind() === 'ipv4' ? 24 : 48
  const octets = parsed.toByteArray().map((octet, index) => (index * 8 < bits ? octet : 0))
  return `${ipaddr.fromByteArray(octets).toString()}/${bits}`
}
