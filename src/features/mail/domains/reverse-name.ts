/** The names in DNS that stand for an address. */
import ipaddr from 'ipaddr.js'

/** The name of the PTR record (RFC 1035 section 3.5, RFC 3596 section 2.5). */
export function reverseNameOf(address: string): string {
  const zone = ipaddr.process(address).kind() === 'ipv4' ? 'in-addr.arpa' : 'ip6.arpa'
  return `${reversedLabels(address)}.${zone}`
}

/** The octets of an IPv4 address, or the nibbles of an IPv6 address, the last one first. */
export function reversedLabels(address: string): string {
  const parsed = ipaddr.process(address)
  const octets = parsed.toByteArray()
  if (parsed.kind() === 'ipv4') return octets.reverse().join('.')
  const nibbles = octets.flatMap((octet) => [octet >> 4, octet & 15])
  return nibbles
    .map((nibble) => nibble.toString(16))
    .reverse()
    .join('.')
}
