/**
 * The Received field that a server puts before what it takes in (RFC 5321 section 4.4), and how
 * many a message has already: a message that many servers have seen goes round in circles
 * (section 6.3).
 */

export type Hop = {
  /** As the client named itself; anything. */
  clientName: string
  clientAddress: string
  hostname: string
  /** `SMTP`, `ESMTP`, `ESMTPS` (RFC 3848). */
  protocol: string
  /** Version and cipher; null for a session in clear. */
  tls: string | null
  id: string
  /** Null when there are several, who shall not learn of each other. */
  recipient: string | null
  /** Epoch ms. */
  at: number
}

/** The whole field, folded, with its final CRLF. */
export function formatReceived(hop: Hop): string {
  const lines = [
    `Received: from ${nameOf(hop.clientName)} (${literalOf(hop.clientAddress)})`,
    ...(hop.tls === null ? [] : [`(${hop.tls.replace(/[^\w .-]/g, '')})`]),
    `by ${hop.hostname} with ${hop.protocol} id ${hop.id}`,
    ...(isPrintable(hop.recipient) ? [`for <${hop.recipient}>`] : []),
  ]
  return `${lines.join('\r\n\t')};\r\n\t${new Date(hop.at).toUTCString().replace('GMT', '+0000')}\r\n`
}

/** Received fields of a header section. */
export function countHops(headerSection: string): number {
  return headerSection.match(/^received[ \t]*:/gim)?.length ?? 0
}

/** What is no host name or address literal is not repeated in a field that programs read. */
function nameOf(clientName: string): string {
  return /^(?:[\w.-]+|\[[\w.:]+\])$/.test(clientName) ? clientName : 'unknown'
}

function isPrintable(address: string | null): address is string {
  return address !== null && /^[!-~]+$/.test(address)
}

function literalOf(address: string): string {
  return address.includes(':') ? `[IPv6:${address}]` : `[${address}]`
}
