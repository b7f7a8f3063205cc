/**
 * Formats the Received field that a server adds to an incoming message (RFC 5321 section 4.4), and
 * counts the Received fields that a message already has: a high count means a mail loop (section
 * 6.3).
 */

export type ReceivedHop = {
  /** The name in the client's EHLO, which may be any text. */
  clientName: string
  clientAddress: string
  hostname: string
  /** The protocol as RFC 3848 names it: `SMTP`, `ESMTP` or `ESMTPS`. */
  protocol: string
  /** Version and cipher of TLS; null for a session without TLS. */
  tls: string | null
  id: string
  /**
   * The recipient; null if there are several, so that recipients do not see each other's addresses.
   */
  recipient: string | null
  /** The time of receipt, epoch ms. */
  at: number
}

/** Returns the whole field, folded, with its final CRLF. */
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

/** The client's name, or `unknown` if it is neither a host name nor an address literal. */
function nameOf(clientName: string): string {
  return /^(?:[\w.-]+|\[[\w.:]+\])$/.test(clientName) ? clientName : 'unknown'
}

function isPrintable(address: string | null): address is string {
  return address !== null && /^[!-~]+$/.test(address)
}

function literalOf(address: string): string {
  return address.includes(':') ? `[IPv6:${address}]` : `[${address}]`
}
