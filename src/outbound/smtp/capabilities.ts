/** What a server offers in its answer to EHLO (RFC 5321 section 4.1.1.1). */
import { classifyLocally } from '../../mail/replies/classify-reply.ts'
import type { Verdict } from '../../mail/replies/reply.ts'

export type Capabilities = {
  hasStarttls: boolean
  hasPipelining: boolean
  has8bitmime: boolean
  hasSmtputf8: boolean
  hasSize: boolean
  /** Octets; 0 = no limit announced. */
  maxSizeBytes: number
}

export const noCapabilities: Capabilities = {
  hasStarttls: false,
  hasPipelining: false,
  has8bitmime: false,
  hasSmtputf8: false,
  hasSize: false,
  maxSizeBytes: 0,
}

/** `lines`: the texts of the answer's lines; the first is the server's name and greeting. */
export function parseCapabilities(lines: readonly string[]): Capabilities {
  const capabilities = { ...noCapabilities }
  for (const line of lines.slice(1)) {
    const [keyword = '', parameter = ''] = line.trim().split(/\s+/, 2)
    switch (keyword.toUpperCase()) {
      case 'STARTTLS':
        capabilities.hasStarttls = true
        break
      case 'PIPELINING':
        capabilities.hasPipelining = true
        break
      case '8BITMIME':
        capabilities.has8bitmime = true
        break
      case 'SMTPUTF8':
        capabilities.hasSmtputf8 = true
        break
      case 'SIZE':
        capabilities.hasSize = true
        capabilities.maxSizeBytes = /^\d{1,15}$/.test(parameter) ? Number(parameter) : 0
        break
      default:
    }
  }
  return capabilities
}

/** The server's own name: the first word of its greeting or of its answer to EHLO. */
export function namedHost(firstLine: string): string {
  const [word = ''] = firstLine.trim().split(/\s+/, 1)
  return word.toLowerCase().replace(/\.$/, '')
}

export type MessageNeeds = { sizeBytes: number; has8bit: boolean; needsSmtputf8: boolean }

/** What we refuse ourselves, since the server says that it cannot take it. */
export function refuseLocally(
  capabilities: Capabilities,
  needs: MessageNeeds,
): { verdict: Verdict; error: string } | null {
  const { maxSizeBytes } = capabilities
  if (needs.needsSmtputf8 && !capabilities.hasSmtputf8) {
    return {
      verdict: classifyLocally('smtputf8'),
      error: '5.6.7 the message needs SMTPUTF8, which the server does not offer',
    }
  }
  if (maxSizeBytes > 0 && needs.sizeBytes > maxSizeBytes) {
    return {
      verdict: classifyLocally('size'),
      error: `5.3.4 the message has ${needs.sizeBytes} octets, the server takes ${maxSizeBytes}`,
    }
  }
  if (needs.has8bit && !capabilities.has8bitmime) {
    return {
      verdict: classifyLocally('8bit'),
      error: '5.6.3 the message has 8-bit data, which the server does not take',
    }
  }
  return null
}
