/**
 * Formats the Received field that a server adds to an incoming message (RFC 5321 section 4.4), and
 * counts those that a message has: a high count means a mail loop (section 6.3).
 */

export type ReceivedHop = {
  /** The client's EHLO name; may be any text. */
  clientName: string
  clientAddress: string
  hostname: string
  /** `SMTP`, `ESMTP`, `ESMTPS` (RFC 3848). */
  protocol: string
  /** Version and cipher; null without TLS. */
  tls: string | null
  id: string
  /** Null if there are several, so that recipients do not see each other's addresses. */
  recipient: string | null
  /** Epoch ms. */
  at: number
}

/** The whole field, folded, with its final CRLF. */
export function formatReceived(hop: ReceivedHop): string {
  const lines = [
    `Received: from ${nameOf(hop.clientName)} (${literalOf(hop.clientAddress)})`,
    ...(hop.tls === null ? [] : [`(${hop.tls.replace(/[^\w .-]/g, '')})`]),
    `by ${hop.hostname} with ${hop.protocol} id ${hop.id}`,
    ...(isPrintable(hop.recipient) ? [`for <${hop.recipient}>`] : []),
  ]
  return `${lines.join('\r\n\t')};\r\n\t${new Date(hop.at).toUTCString().replace('GMT', '+0000')}\r\n`
}

/** The number of Received fields in a header section. */
export function countHops(headerSection: string): number {
  return headerSection.match(/^received[ \t]*:/gim)?.length ?? 0
}

/** `unknown` unless the name is a host name or an address literal. */
function nameOf(clientName: string): string {
  return /^(?:[\w.-]+|\[[\w.:]+\])$/.test(clientName) ? clientName : 'unknown'
}

function isPrintable(address: string | null): address is string {
  return address !== null && /^[!-~]+$/.test(address)
}

function literalOf(address: string): string {
  return address.includes(':') ? `[IPv6:${address}]` : `[${address}]`
}
